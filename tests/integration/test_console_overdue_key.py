"""A key that waited too long is an item of its own, which leads to the one that ends it."""

from ledger.models import Conflict, Idem
from ledger.operations.sweeps import promote_conflicts
from review.models import QueueItem
from review.queue import item_url
from tests.support import desk


def waits(key: str) -> bool:
    """Say whether a key is in the queue."""
    return QueueItem.objects.filter(source="key", item_id=key).exists()


def test_an_overdue_key_leads_to_the_item_that_ends_it(transactional_db, owner_sql, olga):
    """A write that was resent and never taken again: its last item is given up."""
    desk.open_shop(owner_sql)
    number = desk.collide()
    conflict = Conflict.objects.get(pk=number)
    olga.post(
        f"{item_url('conflict', number)}resend/",
        {"decision": "resend", "lock_version": conflict.lock_version, "reason": "try again"},
    )
    owner_sql.execute("UPDATE idem SET claimed_at = now() - interval '9 days'")
    owner_sql.execute("UPDATE conflicts SET resolved_at = now() - interval '9 days'")
    promote_conflicts(actor="test")
    key = conflict.idem_key or ""
    assert waits(key)
    page = olga.get(item_url("key", key)).text
    assert item_url("conflict", number) in page
    assert "when the last item about it is abandoned" in page
    assert 'name="decision"' not in page

    conflict.refresh_from_db()
    shown = olga.get(item_url("conflict", number)).text
    assert shown.count('name="decision"') == 1
    answer = olga.post(
        f"{item_url('conflict', number)}abandon/",
        {"decision": "abandon", "lock_version": conflict.lock_version, "reason": "nobody will"},
    )
    assert "<strong>Done</strong>" in answer.text
    assert not waits(key)
    assert Idem.objects.get(pk=key).status == "done"
