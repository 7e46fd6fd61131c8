"""The few policies a page reads, fetched in one query."""

from typing import Any, Final

from ledger.models import Policy

# What holds while a database has no such row yet; the shipped values of the ledger.
_SHIPPED: Final = {
    "demo": False,
    "undo_s": 30,
    "pending_page_s": 3600,
    "login_attempts": 10,
    "login_lockout_s": 900,
    "session_idle_s": 7200,
    "session_absolute_s": 43200,
    "second_factor_for_sends": False,
    "bulk_items": 1000,
    "bulk_canary": 5,
    "bulk_refusals": 5,
    "bulk_pause_s": 2,
}


def policies() -> dict[str, Any]:
    """Return the policies that pages and log-ins read."""
    rows = Policy.objects.filter(name__in=list(_SHIPPED)).values_list("name", "value")
    return {**_SHIPPED, **dict(rows)}
