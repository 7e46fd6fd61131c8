"""Arguments made up from what an operation says it takes."""

import uuid
from typing import Any

from ledger.operations.specification import members


def plausible(type_: str) -> Any:
    """Return a value of a type that a function would take."""
    kind, _, rest = type_.rstrip("!").partition(":")
    if kind == "enum":
        return rest.split("|")[0]
    values = {
        "text": "x",
        "prose": "x",
        "bytes": "x",
        "uuid": str(uuid.uuid4()),
        "time": "2026-11-30T09:00:00Z",
        "bool": False,
        "object": {"a": 1},
        "array": ["x"],
        "id": 1,
        "int": int(rest.partition("..")[0] or 0),
        "any": {"a": 1},
    }
    return values[kind]


def needed(operation: str) -> dict[str, Any]:
    """Return the members an operation cannot do without, but not who calls."""
    return {
        name: plausible(type_) for name, type_ in members(operation).items() if type_.endswith("!")
    }
