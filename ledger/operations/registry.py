"""The Python door by name: which function and which answer belong to an operation."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from ledger import operations
from ledger.catalog import OPERATIONS
from ledger.operations.base import Answer


@cache
def wrappers() -> dict[str, Callable[..., Any]]:
    """Return the functions of the Python door that are operations."""
    modules = pkgutil.iter_modules(operations.__path__, f"{operations.__name__}.")
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(importlib.import_module(module.name))
        if name in OPERATIONS and inspect.isfunction(function)
    }


@cache
def answers_many(operation: str) -> bool:
    """Say whether an operation answers a list of rows."""
    return get_origin(get_type_hints(wrappers()[operation])["return"]) is list


@cache
def answer_type(operation: str) -> type[Answer]:
    """Return the dataclass of one row of an operation."""
    returned = get_type_hints(wrappers()[operation])["return"]
    kind: type[Answer] = get_args(returned)[0] if answers_many(operation) else returned
    return kind
