"""Paging through a table of any size."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.db.models import QuerySet

# Counting stops here, so that a list of ten million rows opens like one of ten.
_COUNT_CAP = 10_000

if TYPE_CHECKING:  # generic to the type checker only
    _Paginator = Paginator[Any]
else:
    _Paginator = Paginator


class CappedPaginator(_Paginator):
    """Counts no further than the cap; what lies behind it is found by search."""

    @cached_property
    def count(self) -> int:
        """Return the number of rows, at most the cap."""
        rows = self.object_list
        if isinstance(rows, QuerySet):
            return len(rows.order_by().values_list("pk")[:_COUNT_CAP])
        return super().count
