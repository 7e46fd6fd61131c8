"""Resolve: apply, keep or merge a change; say that a send landed or did not; accept new content."""

from collections.abc import Mapping
from typing import Any

from ledger.models import Conflict
from ledger.operations.decisions import decide_conflict
from review.actions.base import Attempt, answered, document, lock_version, revision, texts
from review.compare import compare
from review.decisions import REASON, REFERENCE
from review.errors import IncompleteError
from review.items import reading
from review.items.around import unreadable
from review.items.fields import choices, sides
from review.jsonvalue import wire
from review.language import _
from review.merge import Outcome, outcome, unchosen
from review.verbs import AS_SHOWN

# Decisions for which the reason is also the statement of what the person knows.
_STATED = frozenset({"landed", "not_landed"})


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Decide a conflict as the form says; the row as shown becomes apply or merge."""
    decision = form.get("decision", "")
    stated = decision in _STATED
    version, read = lock_version(form), texts(form, REASON, also=(REFERENCE,) if stated else ())
    extra: dict[str, Any] = {}
    if decision == AS_SHOWN:
        decision, extra = _as_shown(conflict, form)
    elif decision == "merge":  # no compare was shown: the values are named
        changes = document(form.get("changes", ""), "changes", _("Name the values to write."))
        extra = {"changes": changes}
    if stated:
        extra = {"statement": read[REASON], "provider_ref": read[REFERENCE]}
    result = decide_conflict(
        conflict_id=conflict.id,
        lock_version=version,
        actor=actor,
        decision=decision,
        reason=read[REASON],
        revision_seen=revision(form),
        **extra,
    )
    return answered(decision, result)


def _as_shown(conflict: Conflict, form: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Turn the choices into a decision and the values to write."""
    if unreadable(conflict) is not None:
        raise IncompleteError({"choice": _("What came could not be read; nothing can be written.")})
    target, key = (None, None) if conflict.external else (conflict.target, conflict.record_key)
    now = reading.latest(target, key) if target and key else None
    base, attempted, current = sides(conflict, now, reading.special_columns(target)[0])
    comparison = compare(base.value, attempted.value, current.value)
    picks, names = choices(comparison, attempted.value, form)
    chosen = outcome(attempted.value, current.value, picks)
    # A form older than the item is the ledger's to refuse: it knows who decided meanwhile.
    if lock_version(form) >= conflict.lock_version:
        unreadable_text = {
            f"other-{names.index(name)}": words for name, words in chosen.problems.items()
        }
        _refuse_unseen(chosen, unchosen(picks, form, names) | unreadable_text, form)
    if chosen.decision == "apply" and not comparison.left_out:
        return "apply", {}
    return "merge", {"changes": {name: wire(value) for name, value in chosen.changes.items()}}


def _refuse_unseen(chosen: Outcome, problems: Mapping[str, str], form: Mapping[str, str]) -> None:
    """Let only a whole choice through, and only what the page showed for it."""
    if problems:
        raise IncompleteError(problems)
    if not chosen.changes:
        raise IncompleteError(
            {"choice": _("Nothing would be written. Choose a value, or keep current.")}
        )
    if form.get("shown") != chosen.seal:
        raise IncompleteError(
            {
                "shown": _(
                    "The row “Will be written” now shows what your choice writes. Press again to "
                    "write it."
                )
            }
        )
