"""What every ledger table shares in the admin: nobody changes a row, no value is fetched whole.

Verbs are own POST views (review.views.act), never the change form, which is atomic. An action that
is added here must name its permissions: a test enumerates them.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString

from review.admin.paging import CappedPaginator
from review.items import hidden
from review.items.reading import json_text, preview
from review.language import _, grouped
from review.people import People, people_for
from review.rights import VIEW, VIEW_PAYLOAD
from review.text import shown

CELL = 120
# Columns an address may filter by; of the others the database would not even read a text.
_COMPARED = (
    models.BooleanField,
    models.CharField,
    models.DateField,
    models.ForeignKey,
    models.IntegerField,
    models.TextField,
    models.UUIDField,
)
# What an address may say after a column; id is that of a related row.
_PLAIN = frozenset({"id", "exact", "in", "isnull", "gt", "gte", "lt", "lte"})
_TEXT = 4_000
# Columns that say who acted; where another column says what sort of actor it is.
_WORKFLOW_COLUMNS = {"workflow", "workflow_name", "workflow_id", "by_workflow"}
_KINDS = {
    "actor": "actor_kind",
    "actor_kind": "actor_kind",
    "owner_name": "owner_kind",
    "owner_kind": "owner_kind",
}
_ACTOR_COLUMNS = {"second_approver", "user_name", *_KINDS, *_WORKFLOW_COLUMNS}


if TYPE_CHECKING:  # generic to the type checker only
    _Admin = admin.ModelAdmin[Any]
else:
    _Admin = admin.ModelAdmin


def is_plain(lookup: str) -> bool:
    """Say whether an address compares values as they are.

    Patterns and parts of a date read the whole table, and the database refuses some of them.
    """
    return _PLAIN.issuperset(lookup.split("__")[1:])


class Untouched:
    """No row is added, changed or deleted here: rows come from operations, or from code."""

    def has_add_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Refuse."""
        return False


class GuardedAdmin(Untouched, _Admin):
    """A read-only table: exact search, bounded cells, values only for who may see payloads."""

    search_exact: Sequence[str] = ()
    list_per_page = 50
    show_full_result_count = False
    paginator = CappedPaginator
    ordering = ("-pk",)
    # Columns whose values are content, beside every JSON column.
    content: Sequence[str] = ()
    hidden: Sequence[str] = ()
    # Columns that say who acted, beside those whose name says so.
    actors: Sequence[str] = ()

    def __init_subclass__(cls) -> None:
        """Say beside the search what it looks at, and that it looks for nothing like it."""
        super().__init_subclass__()
        cls.search_help_text = lazy(cls._finds, str)()

    @classmethod
    def _finds(cls) -> str:
        names = _(" or ").join(name.replace("_", " ") for name in cls.search_exact)
        return _("Finds exact values only: the whole {names}.").format(names=names)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the table to who may see the console."""
        return request.user.has_perm(VIEW)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Show rows to who may see the console."""
        return request.user.has_perm(VIEW)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Find a row; an address no text column can hold names none."""
        if "\x00" in object_id:
            return None
        return super().get_object(request, object_id, from_field)

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> HttpResponse:
        """Say at once that there is no such row; Django would say it on some later page."""
        name = shown(str(opts.verbose_name), 60)
        words = _("No {name} has the id {id}. It may be archived.")
        raise Http404(words.format(name=name, id=shown(unquote(object_id), 80)))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Name the row without hidden characters."""
        context["subtitle"] = shown(context.get("original"), CELL)
        return super().render_change_form(request, context, *args, **kwargs)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Name the page in its own words alone."""
        named = {"title": _("Change history"), **(extra_context or {})}
        return super().history_view(request, object_id, named)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave every JSON and binary column in the database."""
        return super().get_queryset(request).defer(*(field.name for field in self._heavy()))

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """Show the search box where exact search has columns."""
        return tuple(self.search_exact)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find rows by exact value; anything else would read the whole table."""
        term = search_term.strip()
        if not term:
            return queryset, False
        columns = {field.name: field for field in self.opts.concrete_fields}
        condition = Q()
        for name in self.search_exact:
            try:
                condition |= Q(**{name: columns[name].to_python(term)})
            except ValidationError:  # no value this column could hold
                continue
        return (queryset.filter(condition) if condition else queryset.none()), False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Refuse an address that filters by content: its answer would tell what is hidden."""
        closed = {
            field.name
            for field in self.opts.concrete_fields
            if not isinstance(field, _COMPARED) or field in self._heavy()
        }
        return (
            lookup.partition("__")[0] not in closed
            and is_plain(lookup)
            and super().lookup_allowed(lookup, value, request)
        )

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Name who acted in the words of every other page."""
        people = people_for(request.user)
        names = {
            each: each if isinstance(each, str) else each.__name__ for each in self.list_display
        }
        return [
            _who(name, people) if self._is_actor(name) else each for each, name in names.items()
        ]

    def _is_actor(self, name: str) -> bool:
        return name in _ACTOR_COLUMNS or name.endswith("_by") or name in self.actors

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """List every column: content as bounded previews, texts without hidden characters."""
        allowed, people = request.user.has_perm(VIEW_PAYLOAD), people_for(request.user)
        heavy = {field.name for field in self._heavy()}
        return [
            _previewer(field, allowed=allowed)
            if field.name in heavy
            else _who(field.attname, people)
            if self._is_actor(field.attname)
            else _text(field)
            if isinstance(field, models.CharField | models.TextField)
            else field.name
            for field in self.opts.concrete_fields
            if field.name not in self.hidden
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Make every field read-only."""
        return self.get_fields(request, obj)

    def _heavy(self) -> list["models.Field[Any, Any]"]:
        return [
            field
            for field in self.opts.concrete_fields
            if isinstance(field, models.JSONField | models.BinaryField)
            or field.name in self.content
        ]


def _previewer(
    field: "models.Field[Any, Any]", *, allowed: bool
) -> Callable[[Any], SafeString | str]:
    """Make the read-only field that shows one content column of one row, bounded."""

    def show(row: Any) -> SafeString | str:
        if isinstance(field, models.BinaryField):
            return _digest(row, field)
        if not allowed:
            size, sha256 = hidden.measured(row, field.name)
            if size is None:
                return "-"
            told = _("hidden: your role may not see payloads ({bytes} bytes, SHA-256 {sha256}).")
            told = told.format(bytes=grouped(size), sha256=sha256 or _("not computed: it is large"))
            return f"{told} {hidden.who_may()}"
        text = (
            type(row)
            .objects.filter(pk=row.pk)
            .annotate(bounded_text=json_text(field.name, 65_536))
            .values_list("bounded_text", flat=True)
            .first()
        )
        if text is None:
            return "-"
        seen = preview(field.name, text).preview
        cut = _("cut") if seen.cut else ""
        return format_html('<pre class="payload">{}</pre>{}', seen.text, cut)

    show.__name__ = field.name
    show.short_description = field.verbose_name  # type: ignore[attr-defined]
    return show


def _text(field: "models.Field[Any, Any]") -> Callable[[Any], str]:
    """Make the read-only field that shows one stored text of one row, bounded."""

    def show(row: Any) -> str:
        return shown(getattr(row, field.attname), _TEXT) or "-"

    show.__name__ = field.name
    show.short_description = field.verbose_name  # type: ignore[attr-defined]
    return show


def _who(name: str, people: People) -> Callable[[Any], SafeString | str]:
    """Make the column that names who acted, a person linked to their page."""

    @admin.display(description=name.removesuffix("_id").replace("_", " "), empty_value="-")
    def column(row: Any) -> SafeString | str:
        kind = getattr(row, _KINDS.get(name, ""), "") or ""
        if name in _WORKFLOW_COLUMNS:
            kind = "workflow"
        return people.name(getattr(row, name), kind, CELL) or "-"

    column.__name__ = name
    return column


def _digest(row: Any, field: "models.Field[Any, Any]") -> str:
    """Show bytes of a fixed size, such as a hash; longer ones are not read."""
    if field.name not in {"sha256", "body_sha256", "payload_sha256", "row_hash", "root_hash"}:
        return _("bytes, not shown")
    value = getattr(row, field.name)
    return bytes(value).hex() if value is not None else "-"


def bounded(name: str, label: str = "") -> Callable[[Any], str]:
    """Make a list column that shows a stored text cut and without hidden characters."""

    @admin.display(description=label or name.replace("_", " "), empty_value="-")
    def column(row: Any) -> str:
        return shown(getattr(row, name), CELL) or "-"

    column.__name__ = name
    return column
