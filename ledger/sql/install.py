"""Migration operations for SQL text: functions, views, and statements, from frozen copies.

A migration names the frozen copy it installs and the one before it, so that going backward installs
that one again. Grants are not here: ``ledger.grants`` gives them after every migrate.
"""

from pathlib import Path
from typing import Any

from django.db import ProgrammingError, transaction
from django.db.migrations.operations.base import Operation

HERE = Path(__file__).resolve().parent
FROZEN = HERE.parent / "migrations" / "sql"
INVALID_FUNCTION_DEFINITION = "42P13"


class _Text(Operation):
    """Run one frozen text forward and the one before it (or a drop) backward."""

    reduces_to_sql = True
    reversible = True

    def __init__(self, name: str, new: str, old: str | None = None) -> None:
        self.name, self.new, self.old = name, new, old

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Return what the migration writer prints."""
        return type(self).__name__, [self.name, self.new, self.old], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Leave Django's model state alone."""

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to: Any) -> None:
        """Install the new text."""
        self._install(editor, self.new)

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to: Any) -> None:
        """Install the text before this one, or drop what was made."""
        if self.old is None:
            editor.execute(self._drop(), params=None)
        else:
            self._install(editor, self.old)

    def describe(self) -> str:
        """Return the sentence that migrate prints."""
        return f"{type(self).__name__} {self.name} from {self.new}"

    def _install(self, editor: Any, frozen: str) -> None:
        editor.execute((FROZEN / frozen).read_text(), params=None)

    def _drop(self) -> str:
        return f"DROP FUNCTION ledger.{self.name}"


class InstallFunction(_Text):
    """Create or replace one function; only a changed result type needs a drop."""

    def _install(self, editor: Any, frozen: str) -> None:
        body = (FROZEN / frozen).read_text()
        try:
            with transaction.atomic(using=editor.connection.alias):
                editor.execute(body, params=None)
        except ProgrammingError as error:
            if getattr(error.__cause__, "sqlstate", None) != INVALID_FUNCTION_DEFINITION:
                raise
            editor.execute(self._drop(), params=None)
            editor.execute(body, params=None)


class InstallView(_Text):
    """Create one view, dropping the one before it (a view pins its column types)."""

    def _install(self, editor: Any, frozen: str) -> None:
        editor.execute(self._drop(), params=None)
        super()._install(editor, frozen)

    def _drop(self) -> str:
        return f"DROP VIEW IF EXISTS public.{self.name}"


class RunFrozen(_Text):
    """Run one frozen file; ``old`` is the file that undoes it."""

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to: Any) -> None:
        """Run the undo file."""
        if self.old is not None:
            self._install(editor, self.old)
