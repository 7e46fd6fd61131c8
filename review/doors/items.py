"""The verbs of what has a page: items that wait, and parts of the set-up.

Made of the tables of their buttons (review.verbs, sources, setup); carried out by the same actions.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ledger.models import Policy
from review.actions.carry import SPELLED_OUT, carry_out, find
from review.actions.gate import require
from review.decisions import (
    EVENT,
    EXECUTION,
    INSTANCE,
    REASON,
    REFERENCE,
    RISK,
    VERB_RIGHTS,
    Decision,
)
from review.doors.found import row_of, told
from review.doors.shapes import VERSION, Asked, Told, Verb
from review.errors import IncompleteError
from review.items import asks
from review.rights import VIEW_PAYLOAD
from review.setup import SETUP
from review.sources import SOURCES
from review.verbs import AS_SHOWN, decisions_of

# What is typed for a need of a decision, beside the reason; the statement is the reason.
_TYPED: Final[Mapping[str, Mapping[str, str]]] = {
    REFERENCE: {REFERENCE: "text"},
    RISK: {RISK: "bool"},
    EVENT: {EVENT: "object"},
    EXECUTION: {EXECUTION: "text", INSTANCE: "text"},
}
_WRITING: Final = {"changes": "object", "revision_seen": "id"}
# These look or run; they name no version.
_LOOKING: Final = frozenset({"look-again", "verify"})


def verbs() -> Iterator[Verb]:
    """Return a verb for every button of every kind of page."""
    for source in ("conflict", *SOURCES):
        yield from _of_page("queue", source)
    for source in SETUP:
        yield from _of_page("setup", source)


def _of_page(place: str, source: str) -> Iterator[Verb]:
    by_verb: dict[str, dict[str, Decision]] = {}
    needs: dict[str, set[str]] = {}
    for each in decisions_of(source):
        needs.setdefault(each.verb, set()).update(each.needs)
        for word in SPELLED_OUT if each.decision == AS_SHOWN else (each.decision,):
            by_verb.setdefault(each.verb, {}).setdefault(word, each)
    for verb, offered in by_verb.items():
        yield Verb(
            path=f"/{place}/{source}/{{item_id}}/{verb}",
            says=_says(source, offered),
            takes=_takes(source, verb, tuple(offered), needs[verb]),
            run=partial(_run, source, verb, tuple(offered)),
            right=VERB_RIGHTS[verb],
            gate=verb,
            decisions=tuple(offered),
            source=source,
        )


def _says(source: str, offered: Mapping[str, Decision]) -> str:
    kind = SETUP.get(source) or SOURCES.get(source)
    labels = [
        word.capitalize() if word in SPELLED_OUT else str(each.label)
        for word, each in offered.items()
    ]
    return f"{', '.join(labels)} ({kind.label if kind else 'conflict'})"


def _takes(source: str, verb: str, offered: Collection[str], needs: set[str]) -> dict[str, str]:
    """Return what is typed for any of the decisions under a verb."""
    takes = {}
    if len(offered) > 1:
        takes["decision"] = f"enum:{'|'.join(offered)}!"
    if verb not in _LOOKING and source not in ("retention", "field", "tick"):
        takes[VERSION] = "id!"
    if REASON in needs:
        takes[REASON] = "prose!"
    elif verb == "withdraw":
        takes[REASON] = "prose"
    for need, typed in _TYPED.items():
        takes |= typed if need in needs else {}
    if source == "conflict" and verb in ("resolve", "resend"):
        takes |= _WRITING if "apply" in offered else {"revision_seen": "id"}
    return takes | _asked_of_setup(source)


def _asked_of_setup(source: str) -> dict[str, str]:
    """Return the values of the set-up that may be given; of a provider those left out stay."""
    type_ = "any" if source == "provider" else "any!"
    return dict.fromkeys(asks.names(source), type_)


def _run(source: str, verb: str, words: tuple[str, ...], asked: Asked) -> Told:
    row = row_of(source, asked.path["item_id"])
    form = {**_as_it_stands(source, row), **asked.form}
    if len(words) == 1:
        form["decision"] = words[0]
    elif form.get("decision") not in words:
        raise IncompleteError({"decision": f"It is one of {', '.join(words)}."})
    if form["decision"] in SPELLED_OUT:
        require(asked.user, VIEW_PAYLOAD)
    return told(carry_out(source, row, verb, asked.name, form, spelled_out=True), source, row)


def _as_it_stands(source: str, row: Any) -> dict[str, str]:
    """Return what the form of a page of the set-up holds before anything is typed."""
    if source not in SETUP or isinstance(row, Policy):
        return {}
    return {ask.name: ask.value for ask in asks.of(source, row, {})}


def version_of(verb: Verb, path: Mapping[str, str]) -> str:
    """Return the version of an item as it is now, for who did not look at it before."""
    row = find(verb.source, path.get("item_id", ""))
    version = getattr(row, "lock_version", getattr(row, "version", None))
    return "" if version is None else str(version)
