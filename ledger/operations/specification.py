"""What an operation takes, read from the one place that says so: its database function."""

import json
import re
from functools import cache

from ledger.local import ROOT

FUNCTIONS = ROOT / "ledger" / "sql" / "functions"
CALLER = ("workflow", "workflow_version", "execution_id", "instance", "worker")

_ADMIT = re.compile(r"ledger\.admit\(\s*'(\w+)',\s*'(\w+)',\s*\w+,\s*'(\{.*?\})'\)", re.DOTALL)
_HEADER = re.compile(r"-- (?P<name>\w+): (?P<sentence>[^\n]+)")


@cache
def members(operation: str) -> dict[str, str]:
    """Return the members of the argument and their types, such as ``text!`` or ``int:1..9``.

    Who calls (workflow and execution, or actor) is not among them: it is the same everywhere.
    """
    if f"ledger.admit_items('{operation}', p_arg)" in _source(operation):
        return {"items": "array!"}
    found = _ADMIT.search(_source(operation))
    if found is None or found[1] != operation:
        raise ValueError(f"{operation}.sql does not start with ledger.admit('{operation}', ...)")
    types: dict[str, str] = json.loads(found[3].replace("''", "'"))
    return types


@cache
def keeps_item_texts(operation: str) -> bool:
    """Say whether an array form keeps the exact text of each item's payload."""
    return "payload_text" in item_members(operation)


@cache
def item_members(operation: str) -> dict[str, str]:
    """Return the members of each item of an array form; none where it is no array form."""
    if members(operation) != {"items": "array!"}:
        return {}
    return members(operation.removesuffix("s"))


@cache
def sentence(operation: str) -> str:
    """Return what an operation does, in its function's own words."""
    found = _HEADER.match(_source(operation))
    if found is None or found["name"] != operation:
        raise ValueError(f"{operation}.sql does not start with -- {operation}: its purpose")
    return found["sentence"].strip()


def _source(operation: str) -> str:
    return (FUNCTIONS / f"{operation}.sql").read_text()
