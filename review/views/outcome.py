"""What came of a verb, in plain English: the page of its own, or the banner above the item."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib.admin.utils import quote
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from review import undo
from review.actions.base import TEXTS, Attempt
from review.filters import QueueFilter
from review.items import conflict as conflict_page
from review.items import other
from review.items.page import Banner, ItemPage
from review.items.stories import version
from review.language import _, later
from review.navigation import way_back
from review.outcomes import OUTCOMES, YOURS, Words, words
from review.queue import item_url, next_after
from review.refusals import ASKED_IN, NEEDS, WHY
from review.setup import SETUP
from review.setup_words import SETUP_WORDS
from review.text import listed, shown
from review.views.frame import render, selection
from review.views.item import get_conflict, get_other
from review.won import entered_of, said_of

# After these the item is closed or out of reach: a page of its own. After the others it is still
# open, and is shown again as it is now.
_CLOSING = frozenset(
    {"won", "already_decided", "already_terminal", "already_done", "replay", "inserted"}
)
_STAYS_OPEN = frozenset({"look_again", "reject", "take_back", "withdraw"})

_UNCHANGED = later("Nothing was changed.")
_TOLD = later("Nothing was written here; the workflow is told what the record must hold now.")


def closes(attempt: Attempt) -> bool:
    """Say whether the verb's answer ends the work on this item."""
    return attempt.outcome in _CLOSING and attempt.decision not in _STAYS_OPEN


def ends(attempt: Attempt, *, waits: bool) -> bool:
    """Say the same of what is no conflict: it may have ended on its own, or wait although won."""
    if attempt.outcome == "won":
        return attempt.decision not in _STAYS_OPEN | {"request_stop", "check_engine"}
    return not waits and attempt.outcome in _CLOSING | {"in_review"}


def outcome_page(request: HttpRequest, source: str, item_id: str, attempt: Attempt) -> HttpResponse:
    """Show what a closing verb came to, the way back, and the next item."""
    if source == "conflict":
        conflict = get_conflict(item_id)
        kind, page = conflict.kind, conflict_page.page(conflict, request.user)
    else:
        kind, page = source, other.page(source, get_other(source, quote(item_id)), request.user)
    _offer_undo(request, page)
    banner = _banner(attempt, page, kind, request.user.get_username())
    filters = QueueFilter.of(request)
    back = selection(request)
    place, list_address = way_back(request)
    # Who came from a list to look around goes back there, not on with the queue.
    coming = None
    if "list" not in request.GET:
        coming = next_after(filters.qs, source, item_id, newest=filters.newest)
    context: dict[str, Any] = {
        "title": banner.title,
        "item": page,
        "banner": banner,
        "follow": _follow(attempt),
        "won": attempt.outcome == "won",
        "coming": coming,
        "coming_url": coming.url + back if coming else "",
        "item_url": item_url(source, item_id) + back,
        "place": place,
        "queue_url": list_address,
        "back": back,
    }
    return render(request, "review/outcome.html", context)


def _offer_undo(request: HttpRequest, page: ItemPage) -> None:
    """Let the undo line follow the person who resent this, for as long as it can be taken back."""
    decided = page.decided
    if decided is None or decided.undo_until is None or page.lock_version is None:
        return
    if decided.by == request.user.get_username():
        before, after = _("Did {what} land?").split("{what}")  # its title asks; the line names it
        what = page.title.removeprefix(before).removesuffix(after)
        line = undo.UndoLine(int(page.item_id), page.lock_version, decided.undo_until, what)
        undo.remember(request, line)


def _banner(attempt: Attempt, page: ItemPage, kind: str, actor: str) -> Banner:
    """Say what a closing verb came to, no more than is known."""
    if attempt.outcome == "already_decided" and page.decided and page.decided.by == actor:
        return _as_banner(YOURS)
    if attempt.outcome != "won":
        return _as_banner(words(attempt.outcome, page.source))
    if entered := entered_of(attempt.detail):
        return _as_banner(entered.words)
    said = said_of(kind, attempt.decision)
    resulting = page.decided.resulting if page.decided else ""
    if attempt.decision in ("apply", "merge") and not resulting:
        said = replace(said, sentence=_TOLD)
    elif resulting:
        now = _("The record is now at {version}.").format(version=resulting)
        said = replace(said, sentence=f"{_named(said.sentence, page)} {now}")
    return _as_banner(said)


def _named(sentence: str, page: ItemPage) -> str:
    """Add which fields of which record were written, and which of those attempted were not."""
    decided = page.decided
    if decided is None or not decided.wrote:
        return sentence
    written = f"{sentence.rstrip('.')}: {decided.wrote}."
    left = _("Left as it was: {fields}.").format(fields=decided.left) if decided.left else ""
    return f"{written} {left}".rstrip()


def _as_banner(said: Words) -> Banner:
    return Banner(said.tone, said.title, said.sentence, said.next)


def _follow(attempt: Attempt) -> list[tuple[str, str]]:
    """Lead to what the decision made: the job that was entered, the new item it became."""
    entered = entered_of(attempt.detail)
    if attempt.decision == "resend_as_new" and attempt.outcome == "won":
        return [(_("Look at the new job"), item_url("job", attempt.detail["job_id"]))]
    if entered is None:
        return []
    found = []
    if entered.conflict_id:
        label = _("Decide item {number}").format(number=entered.conflict_id)
        found.append((label, item_url("conflict", entered.conflict_id)))
    if entered.job_id:
        job = reverse("admin:ledger_job_change", args=[quote(entered.job_id)])
        label = _("Look at its job {job}").format(job=shown(entered.job_id, 60))
        found.append((label, job))
    return found


def told_of(attempt: Attempt, source: str, kind: str, *, waits: bool) -> Banner:
    """Say what came of a verb to who sees no page of it; kind is what the item is named by."""
    over = closes(attempt) if source == "conflict" else ends(attempt, waits=waits)
    if source in SETUP or not over:
        return banner_of(attempt, source)
    if attempt.outcome != "won":
        return _as_banner(words(attempt.outcome, source))
    entered = entered_of(attempt.detail)
    return _as_banner(entered.words if entered else said_of(kind, attempt.decision))


def banner_of(attempt: Attempt, source: str = "conflict") -> Banner:
    """Say what came of a verb that leaves the item open."""
    if attempt.decision == "check_engine" and attempt.outcome in ("won", "already_terminal"):
        return _checked(attempt)
    if source in SETUP and (told := _of_setup(attempt)):
        return told
    if attempt.outcome in ("won", "inserted", "replay") and attempt.decision in OPEN_WORDS:
        return OPEN_WORDS[attempt.decision]
    if attempt.outcome == "stale_version":
        return _stale(attempt)
    if attempt.outcome == "already_decided":  # and it still waits: somebody touched it
        return _TOUCHED
    said = words(attempt.outcome, source)
    needs = attempt.detail.get("needs")
    asked = [needs] if isinstance(needs, str) else []
    named = [NEEDS.get(need, shown(need, 120)) for need in asked]
    extra = _("It needs {needs}.").format(needs=listed(named)) if named else ""
    if problems_of(attempt):  # something of the form is missing: nothing is wrong with the item
        return Banner("warn", _("Not decided yet"), extra or said.sentence, _UNCHANGED)
    text = " ".join(part for part in (str(said.sentence), extra, *_because(attempt)) if part)
    return Banner(said.tone, said.title, text, said.next)


def _of_setup(attempt: Attempt) -> Banner | None:
    """Say what came of a change of the set-up, with the ledger's hint as a sentence."""
    said = SETUP_WORDS.get((attempt.decision, attempt.outcome))
    said = said or SETUP_WORDS.get(("", attempt.outcome))
    if said is None:
        return None
    hint = shown(attempt.detail.get("hint"), 400)
    hint = f"{hint[0].upper()}{hint[1:].rstrip('.')}." if hint else ""
    return _as_banner(replace(said, sentence=f"{said.sentence} {hint}".strip()))


def _checked(attempt: Attempt) -> Banner:
    """Say what the engine said; its word is no proof of what was sent."""
    said = shown(attempt.detail.get("said"), 200)
    told = _("It says: {said}.").format(said=said) if said else _("It says: nothing.")
    return replace(OPEN_WORDS["check_engine"], text=told)


def problems_of(attempt: Attempt) -> dict[str, str]:
    """Say which input of the form the ledger found missing or could not read, and what to do."""
    needs, path = attempt.detail.get("needs"), attempt.detail.get("path")
    if attempt.outcome == "rule_failed" and isinstance(needs, str) and needs in ASKED_IN:
        name, text = ASKED_IN[needs]
        return {name: str(text)}
    if attempt.outcome == "invalid" and isinstance(path, str) and path in TEXTS:
        return {path: shown(attempt.detail.get("hint"), 400)}
    return {}


OPEN_WORDS: Mapping[str, Banner] = {
    "look_again": Banner(
        "ok",
        later("Asked again"),
        later("The provider was asked; its answer is the newest line of the evidence."),
    ),
    "reject": Banner(
        "ok", later("Proposal rejected"), later("Nothing was written. The item is open again.")
    ),
    "take_back": Banner(
        "ok", later("Your proposal is taken back"), later("The item is open again, as it was.")
    ),
    "request_stop": Banner(
        "ok",
        later("Stop asked for"),
        later("The engine is asked to stop it. The run stays open until the engine says it ended."),
    ),
    "check_engine": Banner(
        "ok",
        later("The engine was asked"),
        later("It says nothing."),
        later("The page below is fresh."),
    ),
    "withdraw": Banner(
        "ok", later("Taken back"), later("It is not sent again. The item is open, as it was.")
    ),
}

_TOUCHED = Banner(
    "warn",
    later("The item changed while you looked"),
    later(
        "It was touched since this page was drawn, and still waits. Your decision was not carried "
        "out."
    ),
    later("The page below is fresh; decide again."),
)


def _stale(attempt: Attempt) -> Banner:
    """Tell a record that moved from an item somebody acted on."""
    if "lock_version" in attempt.detail:
        by = shown(attempt.detail.get("proposed_by"), 80)
        told = _(
            "Since this page was drawn, somebody acted on it. Your decision was not carried out."
        )
        if by:
            told = _(
                "Since this page was drawn, {name} proposed a decision. Your decision was not "
                "carried out."
            ).format(name=by)
        return replace(_TOUCHED, text=told)
    found = attempt.detail.get("revision") or attempt.detail.get("version_found")
    return Banner(
        "warn",
        _("Moved again: now {version}").format(version=version(found))
        if found
        else _("Moved again"),
        _("The record changed after the page you decided on was drawn. Nothing was written."),
        _("The three columns are fresh; decide again."),
    )


def _because(attempt: Attempt) -> list[str]:
    """Say what the ledger added to a refusal: the field, the move, the rule."""
    detail = attempt.detail
    parts: list[str] = []
    if attempt.outcome == "not_owner_of_field" and isinstance(detail.get("field"), str):
        parts.append(_("The field is {field}.").format(field=shown(detail["field"], 80)))
    if detail.get("why") == "identity" and isinstance(detail.get("path"), str):
        parts.append(_("It stands at {path}.").format(path=shown(detail["path"], 80)))
    allowed = detail.get("allowed")
    if attempt.outcome == "bad_transition" and isinstance(allowed, list):
        step = f"{shown(detail.get('from'), 40)} → {shown(detail.get('to'), 40)}"
        ways = listed([shown(each, 40) for each in allowed]) or _("none")
        told = _("The move was {step}; allowed from there: {ways}.")
        parts.append(told.format(step=step, ways=ways))
    why = detail.get("why")
    if isinstance(why, str):
        said = WHY[why] if why in WHY else OUTCOMES[why].sentence if why in OUTCOMES else ""
        parts.append(str(said))
    if isinstance(detail.get("taken_by"), str):
        told = _("That execution belongs to the run {run}.")
        parts.append(told.format(run=shown(detail["taken_by"], 60)))
    if isinstance(detail.get("hint"), str):
        parts.append(shown(detail["hint"], 400))
    return parts
