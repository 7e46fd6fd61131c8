"""What the reconciler's looks show to be wrong: engines out of reach, and ends that are none.

Read from the runs as they stand, so a tick that had no time for all of them forgets nothing. Which
alert fires and which ends is the ledger's to say (``record_check``).
"""

from datetime import timedelta
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, Min, Q, QuerySet
from django.db.models.functions import Now

from ledger.models import Run
from sweeper.ticks import seconds

CONFIRMED_WITHIN = timedelta(days=1)
"""How long after its own word of its end n8n is asked about a run; then nobody wonders any more."""

GOING_ON = ("new", "running", "waiting")
MOST_ALERTS = 50
LONGEST_NAME = 150
"""Letters of an instance's name in an alert's key."""


def slim(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Read no more of runs than is needed to ask about them."""
    return runs.only("id", "status", "lock_version", "instance", "external_execution_id")


def unconfirmed() -> QuerySet[Run]:
    """Return ended runs that n8n may still say something about, the first that ended first."""
    ended = Run.objects.filter(
        ended_at__gt=Now() - CONFIRMED_WITHIN,
        engine_confirmed_at=None,
        external_execution_id__isnull=False,
    )
    known = Q(engine_status=None) | ~Q(engine_status="not_found")
    return slim(ended.filter(known)).order_by("ended_at")


def current() -> list[dict[str, Any]]:
    """Return the alerts that hold now, one for each instance and fault."""
    alerts = [*_out_of_reach(), *_still_going_on()][:MOST_ALERTS]
    return list({alert["dedupe_key"]: alert for alert in alerts}.values())


def _out_of_reach() -> list[dict[str, Any]]:
    """Find instances whose runs cannot be seen; a page once a person is needed for the runs."""
    too_long = seconds("engine_unknown_s")
    age = ExpressionWrapper(Now() - Min("engine_unknown_since"), output_field=DurationField())
    unseen = Run.objects.filter(status="running", engine_unknown_since__isnull=False)
    rows = unseen.values("instance").annotate(age=age).order_by("-age")[:MOST_ALERTS]
    return [
        {
            "dedupe_key": f"unreachable:{row['instance'][:LONGEST_NAME]}",
            "severity": "page" if row["age"].total_seconds() >= too_long else "warn",
            "value": round(row["age"].total_seconds()),
            "threshold": too_long,
        }
        for row in rows
    ]


def _still_going_on() -> list[dict[str, Any]]:
    """Find instances that still run what said long ago that it was over."""
    grace = timedelta(seconds=seconds("completed_running_grace_s"))
    late = unconfirmed().filter(engine_status__in=GOING_ON, ended_at__lt=Now() - grace)
    rows = late.order_by().values("instance").annotate(n=Count("id")).order_by(F("n").desc())
    return [
        {
            "dedupe_key": f"running_on:{row['instance'][:LONGEST_NAME]}",
            "severity": "warn",
            "value": row["n"],
        }
        for row in rows[:MOST_ALERTS]
    ]
