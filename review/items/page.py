"""What an item page consists of: dataclasses only, rendered by templates/review/item.html."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.safestring import SafeString

from review.compare import Comparison, Row
from review.decisions import REASON, Decision, Kind
from review.jsonvalue import Preview
from review.merge import Outcome, Pick
from review.setup import SETUP
from review.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Chip:
    """A short label beside the title."""

    text: str
    tone: str = "plain"
    icon: str = ""


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
class Column:
    """The head of one side of the compare: a title, who made it, when."""

    title: str
    who: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One differing field with what a person needs to choose: owner, sensitivity, the choice."""

    row: Row
    number: int | None
    pick: Pick | None
    owner: str = ""
    sensitive: bool = False
    problem: str = ""
    refused: str = ""

    @property
    def input(self) -> str:
        """Name the control in which another value is typed."""
        return f"other-{self.number}"

    @property
    def chooser(self) -> str:
        """Name the controls with which the value is chosen."""
        return f"pick-{self.number}"


@dataclass(frozen=True, slots=True)
class Version:
    """One accepted change of the record between the version read and now.

    item is the conflict a person decided with it; otherwise a workflow wrote it by itself.
    """

    revision: str
    who: str
    fields: tuple[str, ...]
    at: datetime
    verb: str = "wrote"
    item: int | None = None


@dataclass(frozen=True, slots=True)
class FieldPart:
    """The compare of a refused field change."""

    columns: tuple[Column, ...]
    rows: tuple[FieldRow, ...]
    comparison: Comparison
    written: Outcome | None
    version_now: str
    after: str
    versions: tuple[Version, ...] = ()
    two_sided: bool = False
    hidden: bool = False
    closed: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One thing somebody outside said, or that nobody said anything."""

    at: datetime
    text: str
    mono: str
    chip: Chip


@dataclass(frozen=True, slots=True)
class OneSend:
    """One try to send, by its number, and what was said of it; number 0 is of no known try."""

    number: int
    marked_at: datetime | None
    evidence: tuple[EvidenceLine, ...]
    latest: bool = False


@dataclass(frozen=True, slots=True)
class SendPart:
    """The verdict of an uncertain send, and every try of it with its evidence, oldest first."""

    verdict: Verdict
    sends: tuple[OneSend, ...]
    known_by: tuple[str, str]
    check: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Payload:
    """A bounded preview of stored content; text is empty where the reader may not see it."""

    label: str
    preview: Preview
    size: int | None = None
    problem: str = ""
    hidden: bool = False
    # A person must read it to decide, so it is unfolded.
    open: bool = False
    # A resend sends this content.
    resent: bool = False
    # Of hidden content: its hash, and who may see it.
    sha256: str = ""
    who: str = ""


@dataclass(frozen=True, slots=True)
class ContentVersion:
    """One content of an item that was changed: who made it, why, and what came of it."""

    number: int
    by: str
    at: datetime
    reason: str
    sha256: str
    key: str
    came: str
    # The item it was changed at, where that is another; what was changed, if anything was.
    item: tuple[str, str] | None = None
    part: FieldPart | None = None


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
    risk: str = "a possible second send"
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
