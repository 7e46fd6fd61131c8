"""What a person did by a decision, in words: "merged: phone and plan (v5)". Pure but for one query.

The ledger writes a decided change under the workflow it was decided for; here it is told under the
name of who decided it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ledger.models import Conflict
from review.items.stories import version
from review.text import listed, shown

# decision: (what a person did, what a person wants to do)
_WORDS: Mapping[str, tuple[str, str]] = {
    "apply": ("applied", "apply"),
    "merge": ("merged", "merge"),
    "keep": ("kept what stands", "keep what stands"),
    "accept_new": ("accepted the new content", "accept the new content"),
    "landed": ("said that it landed", "say that it landed"),
    "not_landed": ("said that it did not land", "say that it did not land"),
    "resend": ("gave it back to be done again", "give it back to be done again"),
    "abandon": ("abandoned it", "abandon it"),
    "acknowledge": ("noted it as seen", "note it as seen"),
    "approve": ("approved the change and had it sent", "approve the change"),
    "reject": ("rejected the change", "reject the change"),
    "run_now": ("made it due now", "make it due now"),
    "mark_failed": ("marked it failed", "mark it failed"),
    "retry": ("offered the message again", "offer the message again"),
    "drop": ("dropped the message", "drop the message"),
    "request_stop": ("asked for it to be stopped", "ask for it to be stopped"),
    "clear_flag": ("cleared its flag", "clear its flag"),
    "attach_execution": ("attached its execution", "attach its execution"),
    "declare_ended": ("declared it ended", "declare it ended"),
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
    return _WORDS.get(str(decision), ("decided", ""))[0]


def wants(decision: object) -> str:
    """Say what a person wants to do."""
    return _WORDS.get(str(decision), ("", "decide"))[1]


def written(verb: str, fields: Iterable[Any], revision: object = None, between: str = ": ") -> str:
    """Add what was written to what was done: the fields, and the version they made."""
    names = listed([shown(name, 60) for name in fields], most=6)
    at = f" ({version(revision)})" if revision else ""
    return f"{verb}{between}{names}{at}" if names else f"{verb}{at}"


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
