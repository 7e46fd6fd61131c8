"""The sentence first: what an item is called, and in plain words why a person is asked.

Every stored word passes through shown() and is escaped by format_html.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ledger.models import Conflict
from review.items.parts import Version
from review.items.story_words import ASKED, TITLES, UNREADABLE
from review.language import _
from review.text import actor, ordinal, shown
from review.verdict import safe_again

_NAME_LIMIT = 80


def bold(value: object) -> SafeString:
    """Set a stored name off, isolated from the direction of the text around it."""
    return format_html("<b><bdi>{}</bdi></b>", shown(value, _NAME_LIMIT))


def bold_actor(value: object) -> SafeString:
    """Set off who acted, in plain words where it is nobody's workflow."""
    return format_html("<b><bdi>{}</bdi></b>", actor(value, _NAME_LIMIT))


def bold_list(values: list[str]) -> SafeString:
    """Join names as a sentence does, each set off."""
    if len(values) > 5:
        head = format_html_join(", ", "{}", ((bold(value),) for value in values[:4]))
        words = _("{words} and {number} more")
        return format_html(words, words=head, number=len(values) - 4)
    if len(values) < 2:
        return format_html_join("", "{}", ((bold(value),) for value in values))
    head = format_html_join(", ", "{}", ((bold(value),) for value in values[:-1]))
    return format_html(_("{words} and {last}"), words=head, last=bold(values[-1]))


def record_of(conflict: Conflict) -> str:
    """Name the record of a conflict: target/key."""
    if not conflict.target:
        number = _("item {number}").format(number=conflict.id)
        return shown(conflict.idem_key or conflict.job_id or number, _NAME_LIMIT)
    return f"{shown(conflict.target, 60)}/{shown(conflict.record_key, 60)}"


def version(value: object) -> str:
    """Write a version as people say it: v13; a text from outside stays as it is."""
    text = shown(value, 40)
    return f"v{text}" if text.isdigit() else text or _("an unknown version")


class Story:
    """The title and the story of one conflict, from its row and what was read beside it."""

    def __init__(
        self,
        conflict: Conflict,
        fields: list[str],
        versions: list[Version],
        facts: Mapping[str, Any],
    ) -> None:
        """Keep the row and what was read beside it."""
        self.conflict = conflict
        self.fields = fields
        self.versions = versions
        self.facts = facts

    @property
    def title(self) -> str:
        """Name the item so that it is recognised in a list."""
        conflict = self.conflict
        words = TITLES.get(conflict.kind, "{record}")
        if conflict.kind == "missing_key" and self.facts.get("unreadable"):
            words = UNREADABLE
        effect = self.facts.get("effect_title") or conflict.effect or _("the effect")
        key = shown(conflict.idem_key or conflict.job_id or _("an event"), _NAME_LIMIT)
        return words.format(
            record=record_of(conflict),
            workflow=shown(conflict.workflow, _NAME_LIMIT),
            effect=shown(effect, _NAME_LIMIT),
            event=key.removeprefix(f"{conflict.effect}:"),
            key=key,
        )

    @property
    def text(self) -> SafeString:
        """Say who wanted what, what happened instead, why a person is asked."""
        tell = _STORIES.get(self.conflict.kind, _plain)
        return tell(self)

    @property
    def wanted(self) -> SafeString:
        """Say who wanted to change what."""
        who = bold_actor(self.conflict.workflow)
        if self.fields:
            words = _("{who} wanted to change {fields}")
            return format_html(words, who=who, fields=bold_list(self.fields))
        return format_html(_("{who} wanted to change the record"), who=who)


def _stale(story: Story) -> SafeString:
    conflict = story.conflict
    last = story.versions[-1] if story.versions else None
    if last:
        words = _(
            "{wanted}. It had read {read}; meanwhile {others} {did} {version}, so its change was "
            "not written: {why}"
        )
    else:
        words = _(
            "{wanted}. It had read {read}, but found {found}, so its change was not written: {why}"
        )
    verbs = {str(each.verb) for each in story.versions}
    return format_html(
        words,
        wanted=story.wanted,
        read=version(conflict.version_read),
        found=version(conflict.version_found),
        others=bold_list(list(dict.fromkeys(each.who for each in story.versions))),
        did=verbs.pop() if len(verbs) == 1 else _("wrote"),
        version=version(last.revision) if last else "",
        why=_why_asked(conflict),
    )


def _asked(conflict: Conflict, why: str) -> str:
    decides, was_asked = ASKED[why]
    return was_asked if conflict.resolved_at else decides


def _why_asked(conflict: Conflict) -> str:
    if conflict.external:
        return _("the workflow found it out itself and posted it here for a person.")
    if conflict.sensitive:
        return _asked(conflict, "sensitive")
    if conflict.attempt > 1:
        return _asked(conflict, "again").format(ordinal=ordinal(conflict.attempt))
    return _asked(conflict, "left")


def _rule(story: Story) -> SafeString:
    rule = story.facts.get("rule") or story.facts.get("constraint")
    if rule:
        words = _(
            "{wanted}. With that change the rule {rule} would no longer hold, so nothing was "
            "written."
        )
    else:
        words = _("{wanted}. With that change a rule would no longer hold, so nothing was written.")
    return format_html(words, wanted=story.wanted, rule=bold(rule))


def _owner(story: Story) -> SafeString:
    owners = story.facts.get("owners") or []
    foreign = list(story.facts.get("foreign") or story.fields)
    if owners:
        words = _(
            "{wanted}, but may not write {fields}. It belongs to {owners}. Nothing was written."
        )
    else:
        words = _("{wanted}, but may not write {fields}. Nothing was written.")
    return format_html(
        words, wanted=story.wanted, fields=bold_list(foreign), owners=bold_list(owners)
    )


def _move(story: Story) -> SafeString:
    moves = story.facts.get("move")
    if not moves:
        words = _("{wanted}, which is not an allowed status move. Nothing was written.")
        return format_html(words, wanted=story.wanted)
    return format_html(
        _(
            "{who} wanted to move {record} from {before} to {after}. The table of allowed moves "
            "has no such step, even from a fresh read. Nothing was written."
        ),
        who=bold_actor(story.conflict.workflow),
        record=bold(record_of(story.conflict)),
        before=bold(moves[0]),
        after=bold(moves[1]),
    )


def _lost_record(story: Story) -> SafeString:
    return format_html(
        _("{wanted} on {record}, but there is no such row any more. Nothing was written."),
        wanted=story.wanted,
        record=bold(record_of(story.conflict)),
    )


def _send(story: Story) -> SafeString:
    facts, why = story.facts, "twice"
    if facts.get("refuses"):
        why = "spent" if facts.get("spent") else "undecided"
    if facts.get("marked"):
        words = _("{who} may have sent {effect} through {provider}, and no answer was recorded.")
    else:
        words = _(
            "{who} was about to send {effect} through {provider}, and no answer was recorded."
        )
    told = format_html(
        words,
        who=bold_actor(story.conflict.workflow),
        effect=bold(facts.get("effect_title") or story.conflict.effect),
        provider=bold(facts.get("provider") or _("an unknown provider")),
    )
    said = [told, _asked(story.conflict, why)]
    if facts.get("refuses"):
        said.append(safe_again(facts["provider"]))
    return format_html_join(" ", "{}", ((sentence,) for sentence in said))


def _missing_key(story: Story) -> SafeString:
    who, path = bold_actor(story.conflict.workflow), story.facts.get("path")
    if lost := story.facts.get("unreadable"):
        words = _(
            "{who} posted something that could not be read ({why}). Nothing is sent or written "
            "from it; the bytes are kept here as they came."
        )
        return format_html(words, who=who, why=lost)
    if path:
        words = _(
            "{who} brought an item from which no key can be made ({path} is missing or blank). "
            "Without a key nothing is sent or written; the item is parked here with all it carried."
        )
    else:
        words = _(
            "{who} brought an item from which no key can be made. Without a key nothing is sent or "
            "written; the item is parked here with all it carried."
        )
    return format_html(words, who=who, path=bold(path))


def _lost_claim(story: Story) -> SafeString:
    words = _(
        "The event {event} came again. Its key says the work is under way, but its job no longer "
        "exists, so nobody is doing it."
    )
    return format_html(words, event=bold(story.conflict.idem_key))


def _payload(story: Story) -> SafeString:
    words = _(
        "{who} brought {event} again with other content than the first time. The first content "
        "stands; the new one was not applied."
    )
    conflict = story.conflict
    return format_html(words, who=bold_actor(conflict.workflow), event=bold(conflict.idem_key))


def _result(story: Story) -> SafeString:
    conflict = story.conflict
    return format_html(
        _(
            "{who} finished {event} a second time with another result. The first result is stored "
            "and is what every redelivery gets."
        ),
        who=bold_actor(conflict.workflow),
        event=bold(conflict.idem_key or conflict.job_id),
    )


def _plain(story: Story) -> SafeString:
    return format_html(_("{record} waits for a person."), record=bold(record_of(story.conflict)))


_STORIES: Mapping[str, Callable[[Story], SafeString]] = {
    "stale_version": _stale,
    "rule_failed": _rule,
    "not_owner_of_field": _owner,
    "bad_transition": _move,
    "lost_record": _lost_record,
    "unknown_send": _send,
    "missing_key": _missing_key,
    "lost_claim": _lost_claim,
    "payload_mismatch": _payload,
    "result_mismatch": _result,
}
