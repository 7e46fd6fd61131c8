"""A rule's file: its head, its lock part, its check part. No database here.

    -- rule: seats_cover_orders
    -- target: customers
    -- fields: seats
    -- lock
    SELECT FROM crm.customers c WHERE c.id = ($1 ->> 'id')::integer FOR UPDATE;
    -- check
    SELECT count(*) <= ($2 ->> 'seats')::integer, jsonb_build_object('orders', count(*))
    FROM crm.orders o WHERE o.customer_id = ($1 ->> 'id')::integer

``$1`` is the record as it is, ``$2`` the change, both jsonb. The text is split with care for quotes
and comments, but PostgreSQL is the judge: ``readset`` has it parse every piece as one statement.
"""

import hashlib
import re
from dataclasses import dataclass, field
from enum import Enum

NAME = re.compile(r"[a-z_][a-z0-9_]*")
NAME_BYTES = 63
"""Longer names PostgreSQL cuts, and two rules could become one."""
HEADS = ("rule", "target", "fields")
_HEAD = re.compile(r"--\s*(\w+):\s*(.*)")
_PART = re.compile(r"--\s*(lock|check):?\s*", re.IGNORECASE)
_QUOTED = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"
_COMMENT = r"--[^\n]*|/\*.*?\*/"
_TOKEN = re.compile(rf"{_QUOTED}|{_COMMENT}|(?P<end>;)", re.DOTALL)
_CLAUSE = re.compile(r"\bFOR\s+((?:NO\s+KEY\s+)?UPDATE|(?:KEY\s+)?SHARE)\b", re.IGNORECASE)
_IMPATIENT = re.compile(r"\b(SKIP\s+LOCKED|NOWAIT)\b", re.IGNORECASE)


class RuleError(Exception):
    """The rule cannot be registered; the text says why."""


class Strength(Enum):
    """What a lock keeps out."""

    UPDATE = "changes of the rows, and new rows whose foreign key names them"
    SHARE = "changes of the rows"


@dataclass(frozen=True)
class Lock:
    """One statement of the lock part."""

    statement: str
    strength: Strength


@dataclass(frozen=True)
class RuleText:
    """A rule as its file says it."""

    target: str
    name: str
    fields: tuple[str, ...]
    locks: tuple[Lock, ...]
    check: str
    source: str = field(repr=False)

    @property
    def function(self) -> str:
        """Return the name of its function in the schema ledger_rules."""
        return f"{self.target}__{self.name}"

    @property
    def sha256(self) -> str:
        """Return the fingerprint that ties the function to the registered row."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def __str__(self) -> str:
        """Return the name people use."""
        return f"{self.target}.{self.name}"


def read(source: str) -> RuleText:
    """Read a rule's file; raise RuleError where it is none."""
    heads, parts = _sections(source)
    name, target = heads.get("rule", ""), heads.get("target", "")
    if not NAME.fullmatch(name):
        raise RuleError(f"-- rule: {name!r} is no name of lower-case letters, digits and _")
    if not target:
        raise RuleError("-- target: is missing")
    checks = statements(parts.get("check", ""))
    if len(checks) != 1:
        raise RuleError(f"-- check must hold one query, it holds {len(checks)} statements")
    rule = RuleText(
        target=target,
        name=name,
        fields=tuple(f for each in heads.get("fields", "").split(",") if (f := each.strip())),
        locks=tuple(_lock(each) for each in statements(parts.get("lock", ""))),
        check=checks[0],
        source=source,
    )
    if len(rule.function.encode()) > NAME_BYTES:
        raise RuleError(f"the name {rule.function} is longer than {NAME_BYTES} bytes")
    return rule


def statements(text: str) -> list[str]:
    """Split SQL at the semicolons that end a statement; drop what is only comment."""
    pieces, start = [], 0
    ends = [found.start() for found in _TOKEN.finditer(text) if found["end"]]
    for end in [*ends, len(text)]:
        pieces.append(text[start:end].strip())
        start = end + 1
    return [piece for piece in pieces if re.sub(_COMMENT, "", piece, flags=re.DOTALL).strip()]


def _sections(source: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the head's entries, and the text of each part."""
    heads: dict[str, str] = {}
    parts: dict[str, str] = {}
    part = None
    for line in source.splitlines(keepends=True):
        if found := _PART.fullmatch(line.strip()):
            part = found[1].lower()
            if part in parts:
                raise RuleError(f"-- {part} stands twice")
            parts[part] = ""
        elif part:
            parts[part] += line
        elif found := _HEAD.fullmatch(line.strip()):
            if found[1] not in HEADS or found[1] in heads:
                raise RuleError(f"-- {found[1]}: is unknown or stands twice; known: {HEADS}")
            heads[found[1]] = found[2].strip()
        elif line.strip() and not line.lstrip().startswith("--"):
            raise RuleError(f"{line.strip()!r} stands before -- lock and -- check")
    return heads, parts


def _lock(statement: str) -> Lock:
    """Read how strongly a statement locks: as its weakest clause does."""
    bare = _TOKEN.sub(" ", statement)
    clauses = {" ".join(found.upper().split()) for found in _CLAUSE.findall(bare)}
    if not clauses:
        raise RuleError(f"a lock must be SELECT ... FOR UPDATE or FOR SHARE: {statement}")
    if "KEY SHARE" in clauses:
        raise RuleError(f"FOR KEY SHARE keeps no change of the row out: {statement}")
    if found := _IMPATIENT.search(bare):
        raise RuleError(f"a lock must wait, {found[1].upper()} does not: {statement}")
    return Lock(statement, Strength.UPDATE if clauses == {"UPDATE"} else Strength.SHARE)
