"""Making a set: which items, at which version, in which order, and the checksum over all of it.

Nothing of the ledger is written, and nobody is asked anything: a set that is never started is
forgotten after a day.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from ledger.models import BatchRun, Conflict, FailedJob, Idem, Job, OutboxMessage, Run
from review.bulk import bars
from review.bulk_models import PREVIEW, BulkItem, BulkSet
from review.items.rows import tell
from review.language import english
from review.models import QueueItem
from review.policy import policies
from review.text import shown

_ORDER: Final = ("opened_at", "item_id", "source")
_FORGOTTEN_AFTER: Final = timedelta(days=1)
# Where each source keeps the version that a decision about it must name.
_VERSIONS: Final[Mapping[str, tuple[Any, str]]] = {
    "conflict": (Conflict, "lock_version"),
    "failed_job": (FailedJob, "lock_version"),
    "job": (Job, "version"),
    "batch": (BatchRun, "lock_version"),
    "outbox": (OutboxMessage, "lock_version"),
    "run": (Run, "lock_version"),
}

type Key = tuple[str, str]


def ticked(values: Iterable[str]) -> Q | None:
    """Read what was ticked in a list (source:id), None where nothing was."""
    ids: dict[str, list[str]] = {}
    for value in values:
        source, _, item_id = value.partition(":")
        if item_id and "\x00" not in value:
            ids.setdefault(source, []).append(item_id)
    condition = Q()
    for source, some in ids.items():
        condition |= Q(source=source, item_id__in=some)
    return condition or None


def freeze(rows: QuerySet[QueueItem], chosen: str, user: User) -> BulkSet | None:
    """Make a set of what waits in these rows now, the oldest first; None where nothing does."""
    _forget()
    most = max(1, int(policies()["bulk_items"]))
    found = list(rows.order_by(*_ORDER)[: most + 1])
    cut, found = len(found) > most, found[:most]
    versions = _versions(found)
    waiting = [row for row in found if _key(row) in versions]
    if not waiting:
        return None
    return _store(waiting, versions, BulkSet(made_by=user, chosen=chosen, cut=cut))


def checksum(items: Iterable[tuple[str, str, int]]) -> str:
    """Return one number for which items a set holds, at which versions, in which order."""
    lines = "".join(f"{source}\t{item_id}\t{version}\n" for source, item_id, version in items)
    return hashlib.sha256(lines.encode()).hexdigest()


def _forget() -> None:
    """Drop the sets that nobody started."""
    old = timezone.now() - _FORGOTTEN_AFTER
    BulkSet.objects.filter(state=PREVIEW, made_at__lt=old).delete()


def _key(row: QueueItem) -> Key:
    return row.source, str(row.item_id)


def _versions(rows: Iterable[QueueItem]) -> dict[Key, int]:
    """Return the version of each row that still waits; a key has none and no decision either."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        ids.setdefault(row.source, []).append(str(row.item_id))
    found: dict[Key, int] = {}
    for source, (model, column) in _VERSIONS.items():
        if source in ids:
            waiting = model.objects.filter(pk__in=ids[source], waiting_since__isnull=False)
            found |= {
                (source, str(pk)): version for pk, version in waiting.values_list("pk", column)
            }
    keys = Idem.objects.filter(pk__in=ids.get("key", ()), waiting_since__isnull=False)
    return found | {("key", pk): 0 for pk in keys.values_list("pk", flat=True)}


def _store(rows: list[QueueItem], versions: Mapping[Key, int], made: BulkSet) -> BulkSet:
    """Write the set and its items in one transaction: there is no half of a set."""
    with english():  # what an item is called is kept with it
        words = {key: str(told.what) for key, told in tell(rows).items()}
    against = bars.find([_key(row) for row in rows], timezone.now())
    frozen = [(*_key(row), versions[_key(row)]) for row in rows]
    made.total, made.checksum = len(rows), checksum(frozen)
    with transaction.atomic():
        made.save()
        BulkItem.objects.bulk_create(
            BulkItem(
                bulk_set=made,
                position=position,
                source=row.source,
                item_id=str(row.item_id),
                kind=row.kind,
                version=versions[_key(row)],
                what=words.get(_key(row)) or shown(row.item_id, 80),
                bars=against.get(_key(row), {}),
            )
            for position, row in enumerate(rows, 1)
        )
    return made
