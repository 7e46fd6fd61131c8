"""Saying what to install where the lint's parsers are missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

_PARSERS = ("sqlglot", "tree_sitter", "tree_sitter_javascript")


@contextmanager
def parsers() -> Iterator[None]:
    """Turn a missing parser into a sentence that says how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _PARSERS:
            raise
        raise CommandError(
            f"The lint needs {error.name}, which is not installed: uv sync --group lint"
        ) from error
