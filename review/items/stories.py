"""The sentence first: what an item is called, and in plain words why a person is asked.

Every stored word passes through shown() and is escaped by format_html.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ledger.models import Conflict
from review.items.parts import Version
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
        return format_html("{} and {} more", head, len(values) - 4)
    if len(values) < 2:
        return format_html_join("", "{}", ((bold(value),) for value in values))
    head = format_html_join(", ", "{}", ((bold(value),) for value in values[:-1]))
    return format_html("{} and {}", head, bold(values[-1]))


def record_of(conflict: Conflict) -> str:
    """Name the record of a conflict: target/key."""
    if not conflict.target:
        return shown(conflict.idem_key or conflict.job_id or f"item {conflict.id}", _NAME_LIMIT)
    return f"{shown(conflict.target, 60)}/{shown(conflict.record_key, 60)}"


def version(value: object) -> str:
    """Write a version as people say it: v13; a text from outside stays as it is."""
    text = shown(value, 40)
    return f"v{text}" if text.isdigit() else text or "an unknown version"


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
        conflict, record = self.conflict, record_of(self.conflict)
        effect = shown(
            self.facts.get("effect_title") or conflict.effect or "the effect", _NAME_LIMIT
        )
        key = shown(conflict.idem_key or conflict.job_id or "an event", _NAME_LIMIT)
        event = key.removeprefix(f"{conflict.effect}:")
        return {
            "stale_version": f"{record}: two writers changed the same row",
            "rule_failed": f"{record}: the change breaks a rule",
            "not_owner_of_field": f"{record}: a field of another workflow",
            "bad_transition": f"{record}: not an allowed status move",
            "lost_record": f"{record}: the row is gone",
            "unknown_send": f"Did “{effect}” for {event} land?",
            "missing_key": f"{shown(conflict.workflow, _NAME_LIMIT)}: {self._parked}",
            "lost_claim": f"{key}: the job is gone",
            "payload_mismatch": f"{key}: same key, other content",
            "result_mismatch": f"{key}: a second, different result",
        }.get(conflict.kind, record)

    @property
    def text(self) -> SafeString:
        """Say who wanted what, what happened instead, why a person is asked."""
        tell = _STORIES.get(self.conflict.kind, _plain)
        return tell(self)

    @property
    def _parked(self) -> str:
        if self.facts.get("unreadable"):
            return "a report that could not be read"
        return "an item without a key"

    @property
    def wanted(self) -> SafeString:
        """Say who wanted to change what."""
        what = bold_list(self.fields) if self.fields else format_html("{}", "the record")
        return format_html("{} wanted to change {}", bold_actor(self.conflict.workflow), what)


def _stale(story: Story) -> SafeString:
    conflict = story.conflict
    read = format_html("{}. It had read {}", story.wanted, version(conflict.version_read))
    last = story.versions[0] if story.versions else None
    if last:
        others = list(dict.fromkeys(each.who for each in story.versions))
        verbs = {each.verb for each in story.versions}
        verb = verbs.pop() if len(verbs) == 1 else "wrote"
        at = version(story.versions[-1].revision)
        moved = format_html("; meanwhile {} {} {}", bold_list(others), verb, at)
    else:
        moved = format_html(", but found {}", version(conflict.version_found))
    return format_html("{}{}, so its change was not written: {}", read, moved, _why_asked(conflict))


def _why_asked(conflict: Conflict) -> str:
    if conflict.external:
        return "the workflow found it out itself and posted it here for a person."
    if conflict.sensitive:
        return f"a sensitive field is never retried by itself, so {_asked(conflict)}."
    if conflict.attempt > 1:
        return f"this is the {ordinal(conflict.attempt)} attempt, so {_asked(conflict)}."
    return f"nobody came back to try again, so {_asked(conflict)}."


def _asked(conflict: Conflict) -> str:
    return "a person was asked" if conflict.resolved_at else "a person decides"


def _rule(story: Story) -> SafeString:
    rule = story.facts.get("rule") or story.facts.get("constraint")
    named = format_html("the rule {}", bold(rule)) if rule else format_html("{}", "a rule")
    return format_html(
        "{}. With that change {} would no longer hold, so nothing was written.", story.wanted, named
    )


def _owner(story: Story) -> SafeString:
    owners = story.facts.get("owners") or []
    foreign = list(story.facts.get("foreign") or story.fields)
    by = format_html(" It belongs to {}.", bold_list(owners)) if owners else ""
    return format_html(
        "{}, but may not write {}.{} Nothing was written.", story.wanted, bold_list(foreign), by
    )


def _move(story: Story) -> SafeString:
    moves = story.facts.get("move")
    if moves:
        return format_html(
            "{} wanted to move {} from {} to {}. The table of allowed moves has no such step, "
            "even from a fresh read. Nothing was written.",
            bold_actor(story.conflict.workflow),
            bold(record_of(story.conflict)),
            bold(moves[0]),
            bold(moves[1]),
        )
    return format_html(
        "{}, which is not an allowed status move. Nothing was written.", story.wanted
    )


def _lost_record(story: Story) -> SafeString:
    return format_html(
        "{} on {}, but there is no such row any more. Nothing was written.",
        story.wanted,
        bold(record_of(story.conflict)),
    )


def _send(story: Story) -> SafeString:
    facts = story.facts
    because = "A second send might repeat it"
    if facts.get("refuses"):
        because = "No attempt is left" if facts.get("spent") else "It cannot be decided by itself"
    end = f" {safe_again(facts['provider'])}" if facts.get("refuses") else ""
    return format_html(
        "{} {} {} through {}, and no answer was recorded. {}, so {}.{}",
        bold_actor(story.conflict.workflow),
        "may have sent" if facts.get("marked") else "was about to send",
        bold(facts.get("effect_title") or story.conflict.effect),
        bold(facts.get("provider") or "an unknown provider"),
        because,
        _asked(story.conflict),
        end,
    )


def _missing_key(story: Story) -> SafeString:
    if lost := story.facts.get("unreadable"):
        return format_html(
            "{} posted something that could not be read ({}). Nothing is sent or written from it; "
            "the bytes are kept here as they came.",
            bold_actor(story.conflict.workflow),
            lost,
        )
    path = story.facts.get("path")
    lost = format_html(" ({} is missing or blank)", bold(path)) if path else ""
    return format_html(
        "{} brought an item from which no key can be made{}. Without a key nothing is sent or "
        "written; the item is parked here with all it carried.",
        bold_actor(story.conflict.workflow),
        lost,
    )


def _lost_claim(story: Story) -> SafeString:
    return format_html(
        "The event {} came again. Its key says the work is under way, but its job no longer "
        "exists, so nobody is doing it.",
        bold(story.conflict.idem_key),
    )


def _payload(story: Story) -> SafeString:
    return format_html(
        "{} brought {} again with other content than the first time. The first content stands; "
        "the new one was not applied.",
        bold_actor(story.conflict.workflow),
        bold(story.conflict.idem_key),
    )


def _result(story: Story) -> SafeString:
    return format_html(
        "{} finished {} a second time with another result. The first result is stored and is what "
        "every redelivery gets.",
        bold_actor(story.conflict.workflow),
        bold(story.conflict.idem_key or story.conflict.job_id),
    )


def _plain(story: Story) -> SafeString:
    return format_html("{} waits for a person.", bold(record_of(story.conflict)))


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
