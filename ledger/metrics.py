"""Named read-only queries that answer numbers; every one reads a bounded number of rows.

Lives here: what a page or a monitor counts. Must not live here: decisions, and words.
"""

from dataclasses import dataclass
from datetime import datetime

from ledger.operations._call import read_rows

# Rows one number is made of at most; beyond, it speaks of the newest of them and says since when.
MOST = 20_000


@dataclass(frozen=True, slots=True)
class Ended:
    """What ended of one workflow, or in one hour: how much, how much of it failed, how fast."""

    workflow: str | None
    hour: datetime | None
    processed: int
    failed: int
    median_seconds: float | None


@dataclass(frozen=True, slots=True)
class Day:
    """What ended in the last 24 hours, by workflow and by hour; since when, where it was much."""

    workflows: tuple[Ended, ...]
    hours: tuple[Ended, ...]
    since: datetime | None


_ENDED = """
WITH newest AS (
    SELECT i.workflow, i.outcome, i.claimed_at, i.done_at FROM public.idem i
    WHERE i.done_at IS NOT NULL AND i.done_at >= clock_timestamp() - interval '24 hours'
    ORDER BY i.done_at DESC LIMIT %s
)
SELECT n.workflow, date_trunc('hour', n.done_at), count(*),
    count(*) FILTER (WHERE n.outcome = 'failed'),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM n.done_at - n.claimed_at)),
    min(n.done_at)
FROM newest n
GROUP BY GROUPING SETS ((n.workflow), (date_trunc('hour', n.done_at)), ())
"""


def ended_lately(most: int = MOST) -> Day:
    """Return what ended in the last 24 hours: the live keys, not those archived meanwhile."""
    workflows: list[Ended] = []
    hours: list[Ended] = []
    since = None
    for workflow, hour, processed, failed, median, first in read_rows(_ENDED, most):
        if workflow is None and hour is None:
            since = first if processed >= most else None
        else:
            row = Ended(workflow, hour, processed, failed, median)
            (hours if workflow is None else workflows).append(row)
    workflows.sort(key=lambda each: (-each.processed, each.workflow or ""))
    return Day(tuple(workflows), tuple(sorted(hours, key=lambda each: str(each.hour))), since)


@dataclass(frozen=True, slots=True)
class Collision:
    """How often a workflow lost a write of one field of one target, of the losses looked at."""

    target: str
    field: str
    workflow: str
    losses: int
    last_at: datetime


_COLLISIONS = """
WITH newest AS (
    SELECT c.target, c.workflow, c.created_at,
        CASE WHEN jsonb_typeof(c.attempted) = 'object' THEN c.attempted ELSE '{}' END AS attempted
    FROM public.conflicts c
    WHERE c.id > (SELECT coalesce(max(x.id), 0) FROM public.conflicts x) - %s
        AND c.created_at >= clock_timestamp() - make_interval(days => %s)
        AND c.target IS NOT NULL
        AND c.kind IN ('stale_version', 'rule_failed', 'not_owner_of_field', 'bad_transition')
        AND pg_column_size(c.attempted) <= 65536
)
SELECT n.target, f.field, n.workflow, count(*), max(n.created_at)
FROM newest n CROSS JOIN LATERAL (
    SELECT k.field FROM jsonb_object_keys(n.attempted) k (field) LIMIT 50) f
GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT %s
"""
# Losses that are looked at, the newest.
LOSSES = 5_000
COLLISION_DAYS = 7


def collisions(losses: int = LOSSES, days: int = COLLISION_DAYS) -> list[Collision]:
    """Return which fields were fought over of late, the most often first."""
    return [Collision(*row) for row in read_rows(_COLLISIONS, losses, days, 1_000)]


@dataclass(frozen=True, slots=True)
class HotRecord:
    """One record that was lost again and again, and by whom."""

    target: str
    record_key: str
    losses: int
    open: int
    workflows: list[str]
    last_at: datetime


_HOT = """
SELECT c.target, c.record_key, count(*), count(*) FILTER (WHERE c.state IN ('detected', 'open')),
    (array_agg(DISTINCT c.workflow))[1:6], max(c.created_at)
FROM public.conflicts c
WHERE c.id > (SELECT coalesce(max(x.id), 0) FROM public.conflicts x) - %s
    AND c.target IS NOT NULL AND c.record_key IS NOT NULL
    AND c.created_at > clock_timestamp()
        - make_interval(secs => (ledger.policy('hot_key_window_s') #>> '{}')::double precision)
GROUP BY 1, 2
HAVING count(*) >= (ledger.policy('hot_key_conflicts') #>> '{}')::integer
ORDER BY 3 DESC, 1, 2 LIMIT %s
"""


def hot_records(losses: int = LOSSES, most: int = 20) -> list[HotRecord]:
    """Return the records that were fought over most, of the newest losses."""
    return [HotRecord(*row) for row in read_rows(_HOT, losses, most)]
