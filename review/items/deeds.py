"""What a person did by a decision, in words: "merged: phone and plan (v5)". Pure but for one query.

The ledger writes a decided change under the workflow it was decided for; here it is told under the
name of who decided it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ledger.models import Conflict
from review.items.stories import version
from review.language import _, later
from review.text import listed, shown

# decision: (what a person did, what a person wants to do)
_WORDS: Mapping[str, tuple[str, str]] = {
    "apply": (later("applied"), later("apply")),
    "merge": (later("merged"), later("merge")),
    "keep": (later("kept what stands"), later("keep what stands")),
    "accept_new": (later("accepted the new content"), later("accept the new content")),
    "landed": (later("said that it landed"), later("say that it landed")),
    "not_landed": (later("said that it did not land"), later("say that it did not land")),
    "resend": (later("gave it back to be done again"), later("give it back to be done again")),
    "abandon": (later("abandoned it"), later("abandon it")),
    "acknowledge": (later("noted it as seen"), later("note it as seen")),
    "approve": (later("approved the change and had it sent"), later("approve the change")),
    "reject": (later("rejected the change"), later("reject the change")),
    "run_now": (later("made it due now"), later("make it due now")),
    "mark_failed": (later("marked it failed"), later("mark it failed")),
    "retry": (later("offered the message again"), later("offer the message again")),
    "drop": (later("dropped the message"), later("drop the message")),
    "request_stop": (later("asked for it to be stopped"), later("ask for it to be stopped")),
    "clear_flag": (later("cleared its flag"), later("clear its flag")),
    "attach_execution": (later("attached its execution"), later("attach its execution")),
    "declare_ended": (later("declared it ended"), later("declare it ended")),
}
DECISIONS = frozenset(_WORDS)

# The operations by which a person ends something.
DECIDING = frozenset(
    {
        "approve_decision",
        "decide_conflict",
        "decide_failed_job",
        "decide_queued_job",
        "decide_batch",
        "decide_outbox",
        "decide_run",
    }
)


@dataclass(frozen=True, slots=True)
class ByPerson:
    """A version of a record that a person's decision wrote."""

    by: str
    verb: str
    conflict_id: int


def did(decision: object) -> str:
    """Say what a person did; a decision without words is told as one."""
    found = _WORDS.get(str(decision))
    return str(found[0]) if found else _("decided")


def wants(decision: object) -> str:
    """Say what a person wants to do."""
    found = _WORDS.get(str(decision))
    return str(found[1]) if found else _("decide")


def written(told: str, fields: Iterable[Any], revision: object = None) -> str:
    """Add what was written to what was done: the fields, and the version they made."""
    names = _named(fields)
    return _at(f"{told}: {names}" if names else told, revision)


def wished(decision: object, fields: Iterable[Any], revision: object = None) -> str:
    """Say what a person wants to do with which fields, and the version that came of it."""
    wish, names = wants(decision), _named(fields)
    if names:
        wish = _("{wish} {fields}").format(wish=wish, fields=names)
    return _at(wish, revision)


def _named(fields: Iterable[Any]) -> str:
    return listed([shown(name, 60) for name in fields], most=6)


def _at(told: str, revision: object) -> str:
    return f"{told} ({version(revision)})" if revision else told


def decided_versions(
    target: str | None, record_key: str | None, revisions: Iterable[object]
) -> dict[str, ByPerson]:
    """Return which versions of a record a person's decision wrote, and whose it was."""
    wanted = [str(revision) for revision in revisions]
    if not wanted or target is None:
        return {}
    found = Conflict.objects.filter(
        target=target, record_key=record_key, resulting_revision__in=wanted
    ).values_list("resulting_revision", "resolved_by", "decision", "id")
    return {
        str(revision): ByPerson(by, did(decision), number)
        for revision, by, decision, number in found
        if by and decision in ("apply", "merge", "accept_new")
    }
