"""The few policies a page reads, fetched in one query."""

from typing import Any, Final

from ledger.models import Policy

# What holds while a database has no such row yet; the shipped values of the ledger.
_SHIPPED: Final = {"demo": False, "undo_s": 30, "pending_page_s": 3600}


def policies() -> dict[str, Any]:
    """Return the policies pages read: demo, undo_s, pending_page_s."""
    rows = Policy.objects.filter(name__in=list(_SHIPPED)).values_list("name", "value")
    return {**_SHIPPED, **dict(rows)}
