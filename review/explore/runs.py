"""The runs: executions of the engine behind jobs, and those nobody can account for."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from ledger.models import Run
from review.explore.shapes import HITS, Line, Listing, Look, Tab
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.states import state_of
from review.language import _, later
from review.text import actor, shown


def _runs() -> QuerySet[Run]:
    return Run.objects.defer("result", "late_result")


def _running() -> QuerySet[Run]:
    return _runs().filter(status="running")


def _find(text: str) -> Sequence[Run]:
    try:
        return list(_runs().filter(pk=UUID(text)))
    except ValueError:
        instance, slash, execution = text.rpartition("/")
        named = {"instance": instance if slash else "default", "external_execution_id": execution}
        return list(_runs().filter(**named)[:HITS])


def why_of(run: Run, now: datetime) -> str:
    """Say in one line how a run stands."""
    parts = []
    if run.status == "running" and run.deadline_at and run.deadline_at <= now:
        parts.append(_("past its deadline"))
    if run.stop_requested_at and run.status == "running":
        parts.append(_("a stop was asked for"))
    if run.external_execution_id is None:
        parts.append(_("no execution is known, so the engine cannot be asked"))
    elif run.engine_status:
        parts.append(_("the engine says {status}").format(status=shown(run.engine_status, 40)))
    else:
        parts.append(_("the engine was not asked yet"))
    if run.error:
        parts.append(shown(run.error, 120))
    return " · ".join(parts)


def _line(run: Run, look: Look) -> Line:
    chips = [state_of("run", run)]
    if run.needs_operator:
        chips.append(Chip(_("flagged"), "bad", "!"))
    execution = shown(run.external_execution_id, 60) or _("none known")
    what = _("{workflow}, execution {execution}")
    return Line(
        what=what.format(workflow=actor(run.workflow, 80), execution=execution),
        url=item_url("run", run.id),
        why=why_of(run, look.now),
        chips=tuple(chips),
        at=run.ended_at or run.started_at,
        late=bool(run.status == "running" and run.deadline_at and run.deadline_at <= look.now),
        last=_("job {job}").format(job=shown(run.job_id, 80)) if run.job_id else _("no job"),
    )


RUNS = Listing(
    title=later("Runs"),
    story=later(
        "Executions of the engine that were announced here. The engine's word alone ends none: one "
        "that nobody can account for is flagged for a person."
    ),
    heads=(later("Run"), later("State"), later("For")),
    finds=later("Find by run id, or by execution: 81244, or instance/81244"),
    tabs={
        "": Tab(
            later("Flagged"),
            lambda: _runs().filter(waiting_since__isnull=False),
            ("waiting_since", "id"),
            later("the longest flagged, first"),
            when=later("Started"),
            empty=later("No run waits for a person."),
        ),
        "late": Tab(
            later("Past the deadline"),
            lambda: _running().filter(deadline_at__lte=timezone.now()),
            ("deadline_at", "id"),
            later("the latest first"),
            when=later("Started"),
            empty=later("No running run is past its deadline."),
        ),
        "stopping": Tab(
            later("Stop asked"),
            lambda: _running().filter(stop_requested_at__isnull=False),
            ("stop_requested_at", "id"),
            later("asked longest ago, first"),
            when=later("Started"),
            empty=later("No stop is under way."),
        ),
        "running": Tab(
            later("Running"),
            _running,
            ("started_at", "id"),
            later("the oldest first"),
            when=later("Started"),
            empty=later("No run is under way. A workflow announces one with start_run."),
        ),
    },
    find=_find,
    line=_line,
    lost=later("Runs that ended are found by their execution, or through their job."),
)
