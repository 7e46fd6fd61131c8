"""Sets of items for tests: letters by the hundred, and ordering through the pages as a person."""

from typing import Any

import psycopg
from django.test import Client

from ledger.models import AuditEvent
from review.bulk_models import BulkItem, BulkSet

URL = "/admin/bulk/"
_LETTERS = """
INSERT INTO failed_jobs (workflow_name, item_key, error_message, error_node, payload, waiting_since)
SELECT 'shop', 'letter:' || n, 'it <b>broke</b>', 'Send', '{}', now() - n * interval '1 second'
FROM generate_series(%s, 1, -1) n RETURNING id
"""


def letters(owner: psycopg.Connection, number: int) -> list[int]:
    """Make dead letters that wait, the oldest first; nothing can be resent from them."""
    return [row[0] for row in owner.execute(_LETTERS, [number]).fetchall()]


def choose(client: Client, *items: str) -> BulkSet:
    """Tick items (source:id) and have them frozen."""
    answer = client.post(URL, {"scope": "ticked", "item": items})
    assert answer.status_code == 302, answer.text
    return BulkSet.objects.get(pk=int(answer["Location"].strip("/").split("/")[-1]))


def choose_all(client: Client, query: str) -> BulkSet:
    """Have all that match a filter frozen."""
    answer = client.post(f"{URL}?{query}", {"scope": "all"})
    assert answer.status_code == 302, answer.text
    return BulkSet.objects.get(pk=int(answer["Location"].strip("/").split("/")[-1]))


def order(client: Client, made: BulkSet, word: str, **form: str) -> Any:
    """Order something of a set, and follow to its page."""
    return client.post(f"{URL}{made.pk}/{word}/", form, follow=True)


def start(client: Client, made: BulkSet, choice: str, reason: str = "looked at them") -> Any:
    """Start a set as its preview's form does."""
    form = {"choice": choice, "reason": reason, "checksum": made.checksum}
    return order(client, made, "start", **form)


def outcomes(made: BulkSet) -> list[str]:
    """Return what every item came to, in order."""
    return list(made.items.order_by("position").values_list("outcome", flat=True))


def item(made: BulkSet, position: int) -> BulkItem:
    """Return an item of a set."""
    return BulkItem.objects.get(bulk_set=made, position=position)


def decisions() -> int:
    """Count the decisions the audit knows."""
    return AuditEvent.objects.filter(op__startswith="decide_").count()
