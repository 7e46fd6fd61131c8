"""What every ledger model shares: it reads, and refuses to write.

Rows change through the operations of ``ledger.operations`` only. Nothing here knows a table.
"""

import json
from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Any, Never

from django.db import models

from ledger.errors import GuardBypassedError

# Python refuses to build integers from more digits than this; such a number stays text.
MAX_INTEGER_DIGITS = 4000


class Unreadable(str):
    """Stored JSON that Python cannot hold (too deep); the value is its text."""

    __slots__ = ()


def _parse_int(text: str) -> int | str:
    return int(text) if len(text) <= MAX_INTEGER_DIGITS else text


def read_json(text: str) -> Any:
    """Return the value of stored JSON text without losing digits; never raise on a stored value."""
    try:
        return json.loads(text, parse_float=Decimal, parse_int=_parse_int)
    except (RecursionError, ValueError):
        return Unreadable(text)


class SafeJSONField(models.JSONField):
    """A jsonb column that no stored value can make unreadable."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Decode the text PostgreSQL sent."""
        if value is None or not isinstance(value, str):
            return value
        return read_json(value)


def _refuse(what: str) -> Never:
    raise GuardBypassedError(
        f"{what}: ledger rows change through ledger.operations only, so that every change "
        "is guarded and audited"
    )


class GuardedQuerySet[M: models.Model](models.QuerySet[M]):
    """Reads only. Every writing method raises GuardBypassedError."""

    def create(self, **kwargs: Any) -> M:
        """Refuse."""
        _refuse("create")

    def update(self, **kwargs: Any) -> int:
        """Refuse."""
        _refuse("update")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse("delete")

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[M]:
        """Refuse."""
        _refuse("bulk_create")

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        """Refuse."""
        _refuse("bulk_update")

    def get_or_create(self, *args: Any, **kwargs: Any) -> tuple[M, bool]:
        """Refuse."""
        _refuse("get_or_create")

    def update_or_create(self, *args: Any, **kwargs: Any) -> tuple[M, bool]:
        """Refuse."""
        _refuse("update_or_create")


class GuardedModel(models.Model):
    """A ledger table: readable through the ORM, writable through operations."""

    objects = GuardedQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(
        self,
        *,
        force_insert: Any = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        """Refuse."""
        _refuse("save")

    def delete(self, using: Any = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse("delete")


def known(field: str, values: Collection[str], table: str) -> models.CheckConstraint:
    """CHECK that a state-like column holds one of the listed words."""
    return models.CheckConstraint(
        condition=models.Q(**{f"{field}__in": sorted(values)}), name=f"{table}_{field}_known"
    )
