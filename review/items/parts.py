"""The large parts of an item page: the compare, the tries of a send, stored contents."""

from dataclasses import dataclass
from datetime import datetime

from review.compare import Comparison, Row
from review.jsonvalue import Preview
from review.language import later
from review.merge import Outcome, Pick
from review.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Chip:
    """A short label beside the title."""

    text: str
    tone: str = "plain"
    icon: str = ""


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
    verb: str = later("wrote")
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
    version_read: str = ""
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
