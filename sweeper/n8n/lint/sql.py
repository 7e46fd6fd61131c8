"""What a query says: read by a real parser, with n8n's ``{{ }}`` standing for a name or a value.

``read`` gives the few facts that rules ask for. A text the parser does not understand is said to be
unread, and each rule decides what that means for it; nothing here guesses.
"""

import logging
import re
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sweeper.n8n.lint.statements import STAND_IN, Statement, literals, statements

# It warns of what it takes for a plain command; a rule says so itself where it matters.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_IN_BRACES = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_LEDGER_CALL = re.compile(r"\bledger\s*\.\s*\"?(\w+)\"?\s*\(", re.IGNORECASE)
_PARAMETER = re.compile(r"\$(\d+)")
_LONGEST = 100_000


# What the parser answers to a text that is none; its own tree-building faults are among them.
_UNREAD = (
    SqlglotError,
    RecursionError,
    ValueError,
    AttributeError,
    TypeError,
    IndexError,
    KeyError,
)


@dataclass(frozen=True)
class Query:
    """The statements of a query, the ledger's operations it calls, its parameters' columns."""

    statements: tuple[Statement, ...]
    calls: tuple[str, ...]
    accepted: frozenset[str] | None  # outcomes its WHERE lets through; None where it lets all
    parameters: dict[int, frozenset[str]]
    unread: str = ""


@lru_cache(maxsize=512)
def read(text: str, dialect: str = "postgres") -> Query:
    """Read a query; braces stand for a value, so it parses as it would run."""
    calls = tuple(each.lower() for each in _LEDGER_CALL.findall(_COMMENT.sub(" ", text)))
    if len(text) > _LONGEST:
        return Query((), calls, None, {}, "it is too long to read")
    try:
        trees = [
            each for each in sqlglot.parse(_with_names(text), read=dialect) if each is not None
        ]
    except _UNREAD as error:
        return Query((), calls, None, {}, str(error).split("\n", 1)[0][:200] or "it does not parse")
    if any(isinstance(each, exp.Command) for each in trees):
        return Query((), calls, None, {}, "it is a command no parser reads")
    found = tuple(each for tree in trees for each in statements(tree))
    accepted = _accepted(trees) if calls else None
    return Query(found, calls, accepted, _parameters(trees))


def _with_names(text: str) -> str:
    """Put a name for each expression in braces; in quotes it stays text."""
    count = 0

    def name(_found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"{STAND_IN}{count}"

    named = _IN_BRACES.sub(name, text.strip().removeprefix("="))
    return _PARAMETER.sub(r" $\1 ", named)  # "$1,$" would be read as the start of a quoted text


def _accepted(trees: list[exp.Expr]) -> frozenset[str] | None:
    """Return the outcomes a call's WHERE lets through, None where it lets through all."""
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        return None
    where = trees[0].args.get("where")
    if where is None or where.find(exp.Or, exp.Not) is not None:
        return None
    return literals(where).get("outcome")


def _parameters(trees: list[exp.Expr]) -> dict[int, frozenset[str]]:
    """Return the columns that each ``$n`` is written to or compared with."""
    found: dict[int, set[str]] = {}

    def note(value: exp.Expr, column: str) -> None:
        for each in value.find_all(exp.Parameter):
            if isinstance(each.this, exp.Literal) and str(each.this.this).isdigit():
                found.setdefault(int(each.this.this), set()).add(column.lower())

    for tree in trees:
        for insert in tree.find_all(exp.Insert):
            columns = (
                [c.name for c in insert.this.expressions]
                if isinstance(insert.this, exp.Schema)
                else []
            )
            for row in (
                insert.expression.find_all(exp.Tuple) if insert.expression is not None else ()
            ):
                for column, value in zip(columns, row.expressions, strict=False):
                    note(value, column)
        for equal in tree.find_all(exp.EQ):
            if isinstance(equal.this, exp.Column):
                note(equal.expression, equal.this.name)
    return {number: frozenset(columns) for number, columns in found.items()}
