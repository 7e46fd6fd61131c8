"""Views of the queue that people keep: what each counts, and saving, renaming, sharing, deleting.

A view is the words of an address under a name. It is read anew each time by the queue's own
filter, so a view whose words no longer mean anything says so and hides nothing. However many
views there are, one query reads them and one counts them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import Func, IntegerField, Q, QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from review.errors import IncompleteError
from review.filters import WORDS, Ground, QueueFilter
from review.language import _, grouped
from review.models import QueueItem, SavedView
from review.queue import COUNT_CAP
from review.rights import SHARE_VIEW, VIEW
from review.search import understood
from review.text import shown

# Tabs beyond these are no longer looked at, and each costs its count on every page of the queue.
MOST_OWN: Final = 12
MOST_SHARED: Final = 12
LONGEST_NAME: Final = 40
_LONGEST_QUERY: Final = 2_000


@dataclass(frozen=True, slots=True)
class ViewTab:
    """One view as a tab: its words, how much it selects, and whether it still means anything."""

    number: int
    name: str
    query: str
    count: str
    broken: bool
    shared: bool
    owner: str
    mine: bool

    @property
    def address(self) -> str:
        """Return the queue's address at which it is open."""
        return address_of(self.query, self.number)


# -- reading -------------------------------------------------------------------------------------


def tabs(ground: Ground) -> list[ViewTab]:
    """Return the views this person sees, own ones first, each with its bounded count."""
    mine = Q(owner=ground.user.pk)
    rows = SavedView.objects.filter(mine | Q(shared=True)).select_related("owner")
    views = list(rows.order_by("shared", "name", "pk")[: MOST_OWN + MOST_SHARED])
    filters = {view.pk: QueueFilter(QueryDict(view.query), ground) for view in views}
    broken = {pk for pk, each in filters.items() if each.errors or set(each.data) - set(WORDS)}
    counted = {
        pk: each.qs for pk, each in filters.items() if pk not in broken and _is_counted(each)
    }
    counts = _counts(counted, ground)
    return [
        ViewTab(
            view.pk,
            shown(view.name, LONGEST_NAME),
            view.query,
            counts.get(view.pk, ""),
            view.pk in broken,
            view.shared,
            view.owner.get_username(),
            view.owner_id == ground.user.pk,
        )
        for view in views
    ]


def _is_counted(filters: QueueFilter) -> bool:
    """Say whether a view is counted: a search and a group are looked up, what is decided is not."""
    asked = filters.form.cleaned_data
    return not asked["q"] and not asked["signature"] and asked["tab"] != "decided"


def _counts(selected: Mapping[int, QuerySet[QueueItem]], ground: Ground) -> dict[int, str]:
    """Count all of them in one query, each up to the cap."""
    if not selected:
        return {}
    numbers = [
        Func(
            ArraySubquery(rows.order_by().values("source")[: COUNT_CAP + 1]),
            template="coalesce(cardinality(%(expressions)s::text[]), 0)",  # NULL: nothing can match
            output_field=IntegerField(),
        )
        for rows in selected.values()
    ]
    asker = User.objects.filter(username=ground.user.get_username())
    (found,) = asker.values_list(*numbers)
    return {
        pk: f"{grouped(COUNT_CAP)}+" if number > COUNT_CAP else grouped(number)
        for pk, number in zip(selected, found, strict=True)
    }


def words_of(query: Mapping[str, str]) -> str:
    """Write down what of an address says what the queue shows."""
    return urlencode({word: query[word] for word in WORDS if query.get(word, "").strip()})


def address_of(query: str, number: int) -> str:
    """Write the address of a view: its words, and which view they are."""
    return f"{reverse('admin:review_queue')}?{query}&view={number}"


def read(query: str) -> dict[str, str]:
    """Read the words of an address that was sent."""
    return QueryDict(query.removeprefix("?")).dict()


# -- what people do with them --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A deed as somebody asks for it: who, about which view (None for a new one), what typed."""

    user: User
    form: Mapping[str, str]
    view: SavedView | None = None

    @property
    def own(self) -> SavedView:
        """Return the view, which has to be this person's."""
        if self.view is None or self.view.owner_id != self.user.pk:
            raise IncompleteError({"view": _("It is somebody else's view. Save your own instead.")})
        return self.view


@dataclass(frozen=True, slots=True)
class Deed:
    """One deed: the right it needs, what it is, and what it changes."""

    right: str
    says: str
    change: Callable[[Asked], SavedView]


def do(name: str, asked: Asked) -> SavedView:
    """Carry a deed out; of two at once by one person the second sees what the first did."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=asked.user.pk)
        return DEEDS[name].change(asked)


def find(number: int, user: User) -> SavedView | None:
    """Return a view this person may see."""
    seen = Q(owner=user) | Q(shared=True)
    return SavedView.objects.select_related("owner").filter(seen, pk=number).first()


def _save(asked: Asked) -> SavedView:
    query = words_of(read(asked.form.get("query", "")))
    if not query:
        raise IncompleteError({"query": _("Choose a tab, a kind, a workflow, or search first.")})
    if len(query) > _LONGEST_QUERY:
        raise IncompleteError({"query": _("This address is too long to be kept.")})
    own = SavedView.objects.filter(owner=asked.user)
    name = _name(asked, own)
    if own.count() >= MOST_OWN:
        words = _("You have {number} views, which is all there is room for. Delete one.")
        raise IncompleteError({"name": words.format(number=MOST_OWN)})
    view = SavedView(owner=asked.user, name=name, query=query)
    if QueueFilter(QueryDict(query), Ground(asked.user)).errors:
        raise IncompleteError({"query": _("The queue does not understand this address.")})
    view.save()
    return view


def _name(asked: Asked, own: QuerySet[SavedView]) -> str:
    name = asked.form.get("name", "").strip()
    if not name:
        raise IncompleteError({"name": _("Give the view a name.")})
    if len(name) > LONGEST_NAME or not name.isprintable():
        words = _("A name has at most {number} visible characters.")
        raise IncompleteError({"name": words.format(number=LONGEST_NAME)})
    if own.filter(name=name).exists():
        raise IncompleteError({"name": _("You have a view of this name.")})
    return name


def _rename(asked: Asked) -> SavedView:
    view = asked.own
    view.name = _name(asked, SavedView.objects.filter(owner=asked.user).exclude(pk=view.pk))
    view.save(update_fields=["name"])
    return view


def _share(asked: Asked) -> SavedView:
    view = asked.own
    if understood(QueryDict(view.query).get("q", "")).inside:
        raise IncompleteError(
            {"view": _("It looks for a value inside payloads, which not everybody may see.")}
        )
    others = SavedView.objects.filter(shared=True).exclude(pk=view.pk)
    # Of two people at once the second counts what the first shared.
    list(others.select_for_update().order_by("pk").values_list("pk"))
    if others.count() >= MOST_SHARED:
        words = _("{number} views are shared, which is all there is room for.")
        raise IncompleteError({"view": words.format(number=MOST_SHARED)})
    view.shared = True
    view.save(update_fields=["shared"])
    return view


def _unshare(asked: Asked) -> SavedView:
    """Make it its owner's alone; who may share may end it for somebody who is not there."""
    view = asked.view or asked.own
    view.shared = False
    view.save(update_fields=["shared"])
    return view


def _delete(asked: Asked) -> SavedView:
    view = asked.own
    view.delete()
    return view


DEEDS: Final[Mapping[str, Deed]] = {
    "save": Deed(VIEW, "Keep an address of the queue as a view", _save),
    "rename": Deed(VIEW, "Rename a view", _rename),
    "share": Deed(SHARE_VIEW, "Share a view with everybody", _share),
    "unshare": Deed(SHARE_VIEW, "Share a view no more", _unshare),
    "delete": Deed(VIEW, "Delete a view", _delete),
}


def may(view: ViewTab, deeds: Iterable[str], user: Any) -> list[str]:
    """Return which deeds this person may do with a view."""
    return [
        name
        for name in deeds
        if (view.mine or name == "unshare") and user.has_perm(DEEDS[name].right)
    ]
