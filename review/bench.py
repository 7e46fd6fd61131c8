"""P11: the console beside few jobs and beside many, then the stock list doing the same."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from statistics import median, quantiles
from time import perf_counter
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ledger.bench import database as db
from ledger.bench.measure import Goal, Ratio, alternate
from ledger.bench.waiting import fill
from ledger.models import Job
from review import static_files
from review.items.addresses import item_url
from review.models import QueueItem

FEW: Final = 10_000
TURN: Final = 10
"""Calls of a page in one database before the other's turn; one more, the first, does not count."""
STOCK_CALLS: Final = 3
_HTTP: Final[Mapping[str, Any]] = {"headers": {"host": "localhost"}}

Visit = Callable[[], None]


class StockJobs(ModelAdmin):  # type: ignore[type-arg]  # generic to the type checker only
    """The list of jobs as anybody would register it in a first afternoon."""

    list_display = ("id", "idem_key", "workflow", "state", "run_after")
    list_filter = ("state",)
    search_fields = ("idem_key", "payload")


# What an operator does in the queue, and how the stock list does it.
STOCK: Final[Mapping[str, Mapping[str, str]]] = {
    "queue page": {},
    "next page": {"p": "2"},
    "filter": {"state__exact": "review"},
    "exact search": {"q": "bench-charge:done-7"},
    "payload search": {"q": '"order": 7,'},
}


def p11(rows: int, rounds: int, few_rows: int = FEW, calls: int = TURN) -> list[Goal]:
    """Compare each page beside many jobs with the same beside few, and with the stock list."""
    static_files.collect_if_changed()
    with ExitStack() as stack:
        few, many = (stack.enter_context(db.database()) for _ in range(2))
        for name, jobs in ((few, few_rows), (many, rows)):
            with db.owner(name) as session:
                fill(session, jobs)
        waits: dict[str, dict[str, list[list[float]]]] = {few: {}, many: {}}
        queries: dict[str, dict[str, int]] = {few: {}, many: {}}
        for _, order in alternate((few, many), 2 * rounds):
            for name in order:
                with db.using(name):
                    for page, visit in _pages():
                        queries[name][page] = _queries(visit)
                        waits[name].setdefault(page, []).append(_times(visit, calls))
        with db.using(many):
            stock = {
                page: median(_times(_stock(asked), STOCK_CALLS)) for page, asked in STOCK.items()
            }
    goals = [
        _grown(page, (rows, few_rows), waits[many][page], waits[few][page]) for page in waits[many]
    ]
    goals += [_against_stock(page, rows, waits[many][page], slow) for page, slow in stock.items()]
    return [*goals, _item(rows, waits[many]), _counted(queries[few], queries[many])]


def _pages() -> Iterator[tuple[str, Visit]]:
    """Give each page by its name; the session is that of an administrator made for it."""
    ada, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    client = Client(**_HTTP)
    client.force_login(ada)
    waiting = QueueItem.objects.order_by("opened_at", "item_id", "source")
    half = waiting[waiting.count() // 2]
    lost = QueueItem.objects.filter(kind="stale_version").earliest("opened_at")
    queue = reverse("admin:review_queue")
    asked = {
        "queue page": {},
        "next page": {"after": f"{half.opened_at.isoformat()}|{half.source}|{half.item_id}"},
        "filter": {"tab": "sends"},
        "exact search": {"q": "record:customers/c-7"},
        "payload search": {"q": "payload.customer.id:c-7"},
    }
    addresses = {page: f"{queue}?{urlencode(words)}" for page, words in asked.items()}
    addresses["item page"] = item_url(lost.source, str(lost.item_id))
    for page, address in addresses.items():
        yield page, _visit(client, address)


def _visit(client: Client, address: str) -> Visit:
    def visit() -> None:
        answer = client.get(address)
        if answer.status_code != 200:
            raise RuntimeError(f"{address} answered {answer.status_code}")

    return visit


def _stock(asked: Mapping[str, str]) -> Visit:
    """Return what reads one page of the stock list; its template is not even rendered."""
    request = RequestFactory(**_HTTP).get("/stock/", asked)
    request.user = User.objects.get(username="bench")
    jobs = StockJobs(Job, AdminSite(name="stock"))
    return lambda: _whole(jobs.changelist_view(request))


def _whole(answer: Any) -> None:
    if answer.status_code != 200:
        raise RuntimeError(f"the stock list answered {answer.status_code}")


def _times(visit: Visit, calls: int) -> list[float]:
    """Return the milliseconds of each of some calls."""
    found = []
    for _ in range(calls):
        start = perf_counter()
        visit()
        found.append((perf_counter() - start) * 1000)
    return found


def _queries(visit: Visit) -> int:
    """Count what the page asks, the second time: the first one of a session fills its caches."""
    visit()
    with CaptureQueriesContext(connection) as queries:
        visit()
    return len(queries)


def _p95(turns: list[list[float]]) -> float:
    return quantiles([each for turn in turns for each in turn], n=20)[-1]


def _grown(
    page: str, rows: tuple[int, int], many: list[list[float]], few: list[list[float]]
) -> Goal:
    turns = Ratio([median(a) / median(b) for a, b in zip(many, few, strict=True)])
    return Goal(
        "P11",
        f"p95 of the {page} beside {rows[0]:,} jobs, over {rows[1]:,}",
        _p95(many) / _p95(few),
        most=1.3,
        spread=f"{_p95(many):.0f}/{_p95(few):.0f} ms; medians of the turns {turns}",
    )


def _against_stock(page: str, rows: int, turns: list[list[float]], stock: float) -> Goal:
    return Goal(
        "P11",
        f"p95 of the {page} beside {rows:,} jobs, over the stock list's median",
        _p95(turns) / stock,
        most=0.15,
        spread=f"{_p95(turns):.0f}/{stock:.0f} ms",
    )


def _item(rows: int, turns: Mapping[str, list[list[float]]]) -> Goal:
    item, queue = (_p95(turns[page]) for page in ("item page", "queue page"))
    return Goal(
        "P11",
        f"p95 of an item's page beside {rows:,} jobs, over the queue's",
        item / queue,
        most=2,
        spread=f"{item:.0f}/{queue:.0f} ms",
    )


def _counted(few: Mapping[str, int], many: Mapping[str, int]) -> Goal:
    words = ", ".join(f"{page} {few[page]}/{number}" for page, number in many.items())
    more = max(many[page] - few[page] for page in many)
    return Goal("P11", "queries a page needs more beside many", more, most=0, unit="", spread=words)
