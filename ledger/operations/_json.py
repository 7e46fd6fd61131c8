"""JSON text out of Python values, without changing or losing one of them on the way."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson

from ledger.errors import InvalidArgumentError
from ledger.models.base import Unreadable

MAX_DEPTH = 100
"""Levels a member may nest; deeper values cannot be shown, compared or resent with confidence."""
NULL: Any = orjson.Fragment("null")
INT64 = range(-(2**63), 2**63)


def required(value: Any) -> Any:
    """Keep a JSON null where a member left out would be a refusal."""
    return NULL if value is None else value


def encode(argument: Mapping[str, Any]) -> str:
    """Return an argument object as JSON text; members that are None are left out.

    Raise InvalidArgumentError for what JSON cannot say (NaN, a lone surrogate, an unknown type).
    """
    given = {
        name: _plain(value, name, MAX_DEPTH)
        for name, value in argument.items()
        if value is not None
    }
    try:
        return orjson.dumps(given, default=str).decode()
    except TypeError as error:
        raise InvalidArgumentError(f"not JSON: {error}") from error


def _plain(value: Any, path: str, depth: int) -> Any:
    """Turn what the encoder would change (Decimal, big int, NaN, unreadable text) into its text."""
    if isinstance(value, dict | list | tuple):
        if depth == 0:
            raise InvalidArgumentError(f"{path}: nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, dict):
            return {
                str(name): _plain(each, f"{path}.{name}", depth - 1) for name, each in value.items()
            }
        return [_plain(each, f"{path}[{n}]", depth - 1) for n, each in enumerate(value)]
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise InvalidArgumentError(f"{path}: {value} is no JSON number")
        return value if isinstance(value, float) else orjson.Fragment(str(value))
    if isinstance(value, Unreadable):
        return orjson.Fragment(str(value))
    if isinstance(value, int) and not isinstance(value, bool) and value not in INT64:
        return orjson.Fragment(str(value))
    return value
