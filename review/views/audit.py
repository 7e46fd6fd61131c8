"""The audit: found by what it was about, verified, and taken away as CSV or JSON lines."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from ledger.catalog import OUTCOMES
from ledger.models import AuditEvent
from review.access import record
from review.explore import audit
from review.explore.catalogue import TITLES
from review.items.addresses import list_url
from review.language import _
from review.people import people_for
from review.views.frame import render, viewers

# Rows of one export; more are taken in pieces of a day.
MOST: Final = 50_000
KEPT: Final = ("by", "q", "outcome", "who", "since", "until")
_COLUMNS: Final = (
    "id",
    "at",
    "actor_kind",
    "actor",
    "op",
    "outcome",
    "key",
    "expected_hash",
    "actual_hash",
    "row_count",
    "target",
    "record_key",
    "job_id",
    "conflict_id",
    "workflow",
    "workflow_version",
    "execution_id",
    "attempt",
    "after_retry",
    "lock_wait_ms",
    "duration_ms",
    "reason",
)
# A sheet takes a cell that begins so for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


@require_GET
@viewers
def show(request: HttpRequest, noun: str) -> HttpResponse:
    """Show one page of what is looked for, newest first."""
    want = audit.wanted(request.GET.dict())
    found = audit.page(want, request.GET.get("after", ""))
    context = {
        "title": TITLES[noun],
        "noun": noun,
        "want": want,
        "since": request.GET.get("since", ""),
        "until": request.GET.get("until", ""),
        "subjects": audit.SUBJECTS.items(),
        "outcomes": [(word, word.replace("_", " ")) for word in sorted(OUTCOMES)],
        "kinds": audit.KINDS,
        "heads": (_("What happened"), _("Outcome"), _("Operation")),
        "when": _("When"),
        "said": _("newest first"),
        "lines": audit.tell(found.page.rows, people_for(request.user)),
        "window": audit.WINDOW,
        "most": MOST,
        "further_url": _address(noun, request, found.further),
        "next_url": _address(noun, request, found.page.after),
        "first_url": list_url(noun, _query(request)) if request.GET.get("after") else "",
        "clear_url": list_url(noun),
        "export_query": _query(request),
    }
    return render(request, "review/audit.html", context)


def _query(request: HttpRequest, **more: str) -> str:
    kept = {name: request.GET[name] for name in KEPT if request.GET.get(name)} | more
    return f"?{urlencode(kept)}" if kept else ""


def _address(noun: str, request: HttpRequest, after: str) -> str:
    return list_url(noun, _query(request, after=after)) if after else ""


@require_GET
@viewers
def export(request: HttpRequest, form: str) -> HttpResponse:
    """Stream what is looked for, row by row, as far as one export goes."""
    want = audit.wanted(request.GET.dict())
    record.taken(request, "audit_exported", subject="audit", reason=_query(request) or "everything")
    write, kind = WRITERS[form]
    name = f"audit-{timezone.localtime():%Y%m%d-%H%M%S}.{form}"
    answer = StreamingHttpResponse(write(audit.each(want, MOST)), content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return cast(HttpResponse, answer)  # what views and middleware see of both is the same


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        """Give the text back."""
        return text


def _csv(rows: Iterator[AuditEvent]) -> Iterator[str]:
    writer = csv.writer(_Echo(), lineterminator="\r\n")
    yield writer.writerow(_COLUMNS)
    for number, row in enumerate(rows, start=1):
        yield writer.writerow([safe(value) for value in values_of(row).values()])
        if number == MOST:
            yield writer.writerow([_CUT])


def _json(rows: Iterator[AuditEvent]) -> Iterator[str]:
    for number, row in enumerate(rows, start=1):
        yield json.dumps(values_of(row), ensure_ascii=True, default=str) + "\n"
        if number == MOST:
            yield json.dumps({"note": _CUT}) + "\n"


_CUT: Final = f"cut here after {MOST:,} rows; narrow the time to take the rest"


def values_of(row: AuditEvent) -> Mapping[str, Any]:
    """Return what is taken of a row."""
    values = {name: getattr(row, name) for name in _COLUMNS}
    return values | {"at": row.at.isoformat()}


def safe(value: Any) -> Any:
    """Write a cell so that no sheet runs it; a number of ours is none."""
    if not isinstance(value, str):
        return "" if value is None else value
    return f"'{value}" if value.lstrip(" ").startswith(_FORMULA) else value


WRITERS: Final[Mapping[str, tuple[Callable[[Iterator[AuditEvent]], Iterator[str]], str]]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "jsonl": (_json, "application/x-ndjson"),
}
