"""What an item page consists of: dataclasses only, rendered by templates/review/item.html."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.safestring import SafeString

from review.decisions import REASON, Decision, Kind
from review.items.parts import Chip, ContentVersion, FieldPart, Payload, SendPart
from review.language import later
from review.setup import SETUP


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the facts panel."""

    label: str
    value: str = ""
    hint: str = ""
    mono: bool = False
    at: datetime | None = None
    chip: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the timeline."""

    at: datetime
    tone: str
    text: SafeString
    more: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A decision as offered to this person: sentence, address, and why it is not allowed."""

    decision: Decision
    blast: str
    url: str
    tone: str
    disabled: str = ""


@dataclass(frozen=True, slots=True)
class Banner:
    """What just happened, or what stands in the way, above the item."""

    tone: str
    title: str
    text: str
    next: str = ""

    @property
    def icon(self) -> str:
        """A sign that carries the tone without colour."""
        return {"ok": "✓", "warn": "!", "bad": "✕", "unknown": "?"}.get(self.tone, "·")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A decision that waits for a second person."""

    by: str
    at: datetime | None
    decision: str
    reason: str
    lines: tuple[str, ...] = ()
    # Nobody but the proposer has the right to approve.
    lonely: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided: by whom, when, why, and until when it can be taken back."""

    state: str
    decision: str
    by: str
    at: datetime | None
    reason: str
    undo_until: datetime | None = None
    resulting: str = ""
    approved_by: str = ""
    # The fields it wrote, and those it left as they were.
    wrote: str = ""
    left: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """What a person can do about an item that waits, and where to look by hand."""

    words: str
    how: SafeString | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """One value a person may change: the input, what stands in it, and what it means."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    # The values to choose from; none where anything may be typed.
    options: Sequence[tuple[str, str]] = ()
    tick: bool = False


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Everything one item page shows."""

    source: str
    item_id: str
    kind: Kind
    title: str
    story: SafeString
    chips: Sequence[Chip]
    facts: Sequence[Fact]
    timeline: Sequence[Entry] = ()
    # The position of what happened before the timeline begins.
    older: str = ""
    # What is left of a lease, and how long it lasts, in seconds.
    lease: tuple[int, int] | None = None
    asks: Sequence[Ask] = ()
    four: Mapping[str, str] = field(default_factory=dict)
    offers: Sequence[Offer] = ()
    needs: frozenset[str] = frozenset()
    # What the tick of a resend accepts.
    risk: str = later("a possible second send")
    inputs: Mapping[str, str] = field(default_factory=dict)
    lock_version: int | None = None
    revision_seen: str = ""
    opened_at: datetime | None = None
    next: Next | None = None
    fields: FieldPart | None = None
    send: SendPart | None = None
    payloads: Sequence[Payload] = ()
    versions: Sequence[ContentVersion] = ()
    # Where its content is changed before it is sent again, or why that may not be.
    edit: tuple[str, str] | None = None
    proposal: Proposal | None = None
    decided: Decided | None = None
    # What to decide in place of this item: a name and an address.
    instead: tuple[str, str] | None = None
    links: Sequence[tuple[str, str]] = ()

    @property
    def is_bare(self) -> bool:
        """Say whether there is nothing to show beside the facts."""
        return not (
            self.send or self.fields or self.payloads or self.timeline or self.older or self.asks
        )

    @property
    def always_reason(self) -> bool:
        """Say whether every decision that can be taken asks for a reason."""
        return all(REASON in each.decision.needs for each in self.offers if not each.disabled)

    @property
    def is_setup(self) -> bool:
        """Say whether this is no item but something Landed is set up with."""
        return self.source in SETUP
