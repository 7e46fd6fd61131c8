"""The queue's filters: their state is the address, so a view can be kept and shared."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import django_filters
from django import forms
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest

from ledger.models import Workflow
from review import groups, search
from review.language import later
from review.models import QueueItem
from review.queue import NEWEST, ORDERS, TABS, in_tab
from review.rights import VIEW_PAYLOAD
from review.sources import SOURCES
from review.text import actor
from review.together import state
from review.verbs import KINDS

# The words of the queue's address that say what it shows: what a saved view keeps.
WORDS = ("tab", "q", "kind", "workflow", "attention", "signature", "order")
# More workflows than this do not fit a select; the search finds them by name.
_WORKFLOWS = 300


def _kinds() -> list[tuple[str, str]]:
    conflicts = [(f"conflict:{name}", kind.label) for name, kind in KINDS.items()]
    others = [(f"{name}:", kind.label) for name, kind in SOURCES.items()]
    return conflicts + others


@dataclass
class Ground:
    """What the filters of one page share, each read once: however many views a page counts."""

    user: AbstractUser | AnonymousUser

    @cached_property
    def put_off(self) -> list[Any]:
        """Return what waits and is put off."""
        return state.put_off()

    @cached_property
    def mine(self) -> list[Any]:
        """Return what waits and this person has."""
        return state.claimed_by(self.user.get_username())

    @cached_property
    def workflows(self) -> list[tuple[str, str]]:
        """Return the workflows to choose from."""
        names = Workflow.objects.order_by("name").values_list("name", flat=True)[:_WORKFLOWS]
        return [(name, actor(name)) for name in names]


class QueueFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Tab, search, kind and workflow; an unknown value selects nothing rather than everything."""

    tab = django_filters.ChoiceFilter(
        choices=list(TABS.items()), method="by_tab", widget=forms.HiddenInput
    )
    q = django_filters.CharFilter(method="by_search", max_length=300)
    kind = django_filters.ChoiceFilter(
        choices=_kinds, method="by_kind", empty_label=later("Any kind"), label=later("Kind")
    )
    workflow = django_filters.ChoiceFilter(
        empty_label=later("Any workflow"), label=later("Workflow")
    )

    attention = django_filters.ChoiceFilter(
        choices=list(state.CHOICES.items()),
        method="by_attention",
        empty_label=later("Not put off"),
        label=later("Attention"),
    )

    signature = django_filters.CharFilter(
        method="by_signature", max_length=64, widget=forms.HiddenInput
    )

    order = django_filters.ChoiceFilter(
        choices=list(ORDERS.items()),
        method="by_order",
        empty_label=later("Oldest first"),
        label=later("Order"),
    )

    class Meta:
        model = QueueItem
        fields = ()

    def __init__(self, words: Mapping[str, Any], ground: Ground) -> None:
        """Read the words of an address, for one person."""
        super().__init__(words, queryset=QueueItem.objects.all())
        self.ground = ground
        self.filters["workflow"].extra["choices"] = lambda: ground.workflows

    @classmethod
    def of(cls, request: HttpRequest) -> "QueueFilter":
        """Read the address of a request."""
        return cls(request.GET, Ground(request.user))

    def filter_queryset(self, queryset: QuerySet[QueueItem]) -> QuerySet[QueueItem]:
        """Apply the filters; an address with a word nobody knows selects nothing.

        What people put off is left out, unless it is asked for or searched by its name.
        """
        if self.errors:
            return queryset.none()
        asked = self.form.cleaned_data
        if not asked.get("attention") and not asked.get("q"):
            queryset = state.without(queryset, self.ground.put_off)
        narrowed: QuerySet[QueueItem] = super().filter_queryset(queryset)
        return narrowed

    @property
    def narrows(self) -> bool:
        """Whether anything is asked for that leaves some of what waits out."""
        asked = {name: self.form.cleaned_data[name] for name in self.form.changed_data}
        asked.pop("order", None)
        return bool(asked) and asked != {"attention": "everything"}

    @property
    def newest(self) -> bool:
        """Whether the newest comes first."""
        return not self.errors and self.form.cleaned_data["order"] == NEWEST

    def by_attention(
        self, rows: QuerySet[QueueItem], _name: str, value: str
    ) -> QuerySet[QueueItem]:
        """Narrow to what this person has, or to what is put off."""
        if value == "mine":
            return state.only(rows, self.ground.mine)
        return state.only(rows, self.ground.put_off) if value == "put-off" else rows

    def by_order(self, rows: QuerySet[QueueItem], _name: str, _value: str) -> QuerySet[QueueItem]:
        """Narrow nothing: the page puts what is left in order."""
        return rows

    def by_tab(self, rows: QuerySet[QueueItem], _name: str, tab: str) -> QuerySet[QueueItem]:
        """Narrow to a tab."""
        return in_tab(rows, tab)

    def by_signature(
        self, rows: QuerySet[QueueItem], _name: str, value: str
    ) -> QuerySet[QueueItem]:
        """Narrow to one group of what is alike."""
        members = groups.members_of(value)
        return state.only(rows, [(each.source, each.item_id, each.since) for each in members])

    def by_kind(self, rows: QuerySet[QueueItem], _name: str, value: str) -> QuerySet[QueueItem]:
        """Narrow to a kind, always together with its source."""
        source, _, kind = value.partition(":")
        return rows.filter(source=source, kind=kind) if kind else rows.filter(source=source)

    def by_search(self, rows: QuerySet[QueueItem], _name: str, text: str) -> QuerySet[QueueItem]:
        """Narrow to what one word names; values inside payloads are for who may see them."""
        return search.narrow(rows, text, may_look=self.ground.user.has_perm(VIEW_PAYLOAD))
