"""The batches: long imports, how far they came, and which stopped."""

from collections.abc import Sequence

from django.db.models import QuerySet

from ledger.models import BatchRun
from review.explore.shapes import Line, Listing, Look, Tab, number_of
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.states import state_of
from review.language import _, later, plural
from review.text import actor, shown

# Found by workflow: one that runs, and this many that wait.
_PER_WORKFLOW = 20


def _batches() -> QuerySet[BatchRun]:
    return BatchRun.objects.all()


def _find(text: str) -> Sequence[BatchRun]:
    number = number_of(text)
    if number is not None and (found := list(_batches().filter(pk=number))):
        return found
    # Index-backed: one running per workflow, and those that wait, by workflow.
    running = _batches().filter(workflow_name=text, status="running", guarded=True)
    waiting = _batches().filter(workflow_name=text, waiting_since__isnull=False)
    return [*running[:1], *waiting.order_by("-id")[:_PER_WORKFLOW]]


def _line(batch: BatchRun, look: Look) -> Line:
    over = bool(
        batch.status == "running" and batch.lease_expires_at and batch.lease_expires_at <= look.now
    )
    chips = [state_of("batch", batch)]
    if over:
        chips.append(Chip(_("lease over"), "bad", "!"))
    cursor = _("at the beginning")
    if batch.last_cursor:
        cursor = _("at {cursor}").format(cursor=shown(batch.last_cursor, 60))
    why = [cursor, _("chunk {number}").format(number=batch.chunk_no)]
    if batch.last_error:
        why.append(shown(batch.last_error, 120))
    what = _("{workflow}, batch {number}")
    return Line(
        what=what.format(workflow=actor(batch.workflow_name, 80), number=batch.id),
        url=item_url("batch", batch.id),
        why=" · ".join(why),
        chips=tuple(chips),
        at=batch.heartbeat_at or batch.started_at,
        late=over,
        last=plural("{number} item", "{number} items", batch.items_processed),
    )


BATCHES = Listing(
    title=later("Batches"),
    story=later(
        "Long imports keep their cursor here, so that the next start goes on where the last one "
        "stopped. One that stopped is marked failed or acknowledged on its page."
    ),
    heads=(later("Import"), later("State"), later("Done so far")),
    finds=later("Find by its number, or by workflow where it runs or waits"),
    tabs={
        "": Tab(
            later("Stopped"),
            lambda: _batches().filter(waiting_since__isnull=False),
            ("waiting_since", "id"),
            later("the longest stopped, first"),
            when=later("Last sign"),
            empty=later("No import is stopped."),
        ),
        "running": Tab(
            later("Running"),
            lambda: _batches().filter(status="running", guarded=True),
            ("workflow_name", "id"),
            later("by workflow"),
            when=later("Last sign"),
            empty=later("No import runs now. A workflow begins one with start_batch."),
        ),
        "all": Tab(
            later("All"),
            _batches,
            ("-id",),
            later("the newest first"),
            when=later("Last sign"),
            empty=later("No import has run yet. A workflow begins one with start_batch."),
        ),
    },
    find=_find,
    line=_line,
)
