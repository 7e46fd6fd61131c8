"""The queue's filters: their state is the address, so a view can be kept and shared."""

from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from ledger.models import Conflict, Effect, FailedJob, Job, Workflow
from review.models import QueueItem
from review.queue import TABS, in_tab
from review.sources import SOURCES
from review.text import actor
from review.verbs import KINDS

# A search names one thing; more hits than this are a filter, not a find.
_HITS = 200
# More workflows than this do not fit a select; the search finds them by name.
_WORKFLOWS = 300


def _kinds() -> list[tuple[str, str]]:
    conflicts = [(f"conflict:{name}", kind.label) for name, kind in KINDS.items()]
    others = [(f"{name}:", kind.label) for name, kind in SOURCES.items()]
    return conflicts + others


def _workflows() -> list[tuple[str, str]]:
    names = Workflow.objects.order_by("name").values_list("name", flat=True)[:_WORKFLOWS]
    return [(name, actor(name)) for name in names]


class QueueFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Tab, search, kind and workflow; an unknown value selects nothing rather than everything."""

    tab = django_filters.ChoiceFilter(
        choices=list(TABS.items()), method="by_tab", widget=forms.HiddenInput
    )
    q = django_filters.CharFilter(method="by_search", max_length=300)
    kind = django_filters.ChoiceFilter(
        choices=_kinds, method="by_kind", empty_label="Any kind", label="Kind"
    )
    workflow = django_filters.ChoiceFilter(
        choices=_workflows, empty_label="Any workflow", label="Workflow"
    )

    class Meta:
        model = QueueItem
        fields = ()

    def filter_queryset(self, queryset: QuerySet[QueueItem]) -> QuerySet[QueueItem]:
        """Apply the filters; an address with a word nobody knows selects nothing."""
        return queryset.none() if self.errors else super().filter_queryset(queryset)

    def by_tab(self, rows: QuerySet[QueueItem], _name: str, tab: str) -> QuerySet[QueueItem]:
        """Narrow to a tab."""
        return in_tab(rows, tab)

    def by_kind(self, rows: QuerySet[QueueItem], _name: str, value: str) -> QuerySet[QueueItem]:
        """Narrow to a kind, always together with its source."""
        source, _, kind = value.partition(":")
        return rows.filter(source=source, kind=kind) if kind else rows.filter(source=source)

    def by_search(self, rows: QuerySet[QueueItem], _name: str, text: str) -> QuerySet[QueueItem]:
        """Narrow to what one word names: a record, key, event, job, execution or item number."""
        return rows.filter(_found(text.strip()))


def _found(text: str) -> Q:
    """Find waiting items by the exact names the indexes know."""
    target, slash, record_key = text.partition("/")
    conflicts = Q(idem_key=text) | Q(job_id=text) | Q(idem_key__in=_keys(text))
    # A write's key names its record behind the event; only waiting rows are looked through.
    conflicts |= Q(idem_key__contains=f":{text}#")
    if slash:
        conflicts |= Q(target=target, record_key=record_key)
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 19:
        conflicts |= Q(pk=int(number))
    waiting = Conflict.objects.filter(conflicts, waiting_since__isnull=False)
    found = Q(source="conflict", item_id__in=_ids(waiting))
    failed = FailedJob.objects.filter(waiting_since__isnull=False)
    found |= Q(
        source="failed_job", item_id__in=_ids(failed.filter(Q(item_key=text) | Q(job_id=text)))
    )
    jobs = Job.objects.filter(waiting_since__isnull=False)
    found |= Q(source="job", item_id__in=_ids(jobs.filter(Q(pk=text) | Q(idem_key=text))))
    return found | Q(workflow=text)


def _keys(event: str) -> list[str]:
    """Return the keys an event has under each effect of the ledger."""
    return [
        f"{name}:{event}" for name in Effect.objects.values_list("name", flat=True)[:_WORKFLOWS]
    ]


def _ids(rows: QuerySet[Any]) -> list[str]:
    return [str(pk) for pk in rows.values_list("pk", flat=True)[:_HITS]]
