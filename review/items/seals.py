"""The seals of the audit: how many of the last ones a page can verify while somebody waits."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ledger.models import AuditSeal
from review.items.page import Fact
from review.language import _, grouped

# What is recomputed at once: some seconds of the database's time.
_ROWS: Final = 200_000
_SEALS: Final = 500


@dataclass(frozen=True, slots=True)
class Seals:
    """The last seals that are verified at once, and the rows they cover."""

    newest: AuditSeal | None
    count: int
    rows: int
    since: datetime | None

    pk = "newest"

    @property
    def why_not(self) -> str:
        """Say why nothing can be verified here."""
        if self.newest is None:
            return _("Nothing is sealed yet; the tick seals every few minutes.")
        if not self.count:
            return _("The last seal alone covers more than a page can wait for: run verify_audit.")
        return ""

    @property
    def story(self) -> str:
        """Say what a seal is for."""
        return _(
            "Each row of the audit has a hash of its own, and every few minutes a seal over all "
            "new ones is written, which holds the seal before it. Whoever changes a row has to "
            "change every seal since."
        )


def find(name: str) -> Seals | None:
    """Return the last seals, as many as can be verified at once."""
    if name != Seals.pk:
        return None
    found = list(AuditSeal.objects.order_by("-id")[:_SEALS])
    count = rows = 0
    since = None
    for seal in found:
        if rows + seal.rows > _ROWS:
            break
        count, rows, since = count + 1, rows + seal.rows, seal.sealed_at
    return Seals(found[0] if found else None, count, rows, since)


def facts(row: Seals) -> list[Fact]:
    """Return the last seal, and how far back a verification reaches."""
    if row.newest is None:
        return []
    return [
        Fact(_("Last seal"), str(row.newest.id)),
        Fact(_("Sealed"), at=row.newest.sealed_at),
        Fact(_("Rows in it"), grouped(row.newest.rows)),
        Fact(_("Its hash"), bytes(row.newest.root_hash).hex(), mono=True),
        Fact(_("Verified here since"), at=row.since),
    ]
