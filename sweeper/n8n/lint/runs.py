"""What in a piece of JavaScript depends on the run instead of on the event."""

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node as Part

from sweeper.n8n.lint import js

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration"})

# What differs each time a workflow runs: the chain of names that reads it.
_RUN_IDENTITY = (
    "$execution.id",
    "$execution.resumeUrl",
    "$runIndex",
    "$itemIndex",
    "$now",
    "$today",
    "$uuid",
    "Date.now",
    "Math.random",
    "performance.now",
    "DateTime.now",
    "DateTime.local",
    "crypto.randomUUID",
    "crypto.randomBytes",
    "$prevNode.runIndex",
)
_MINTING = re.compile(r"^(uuid|uuidv?\d|nanoid|ulid|cuid2?|moment|dayjs|randomUUID|randomBytes)$")
_RANDOM = re.compile(r"uuid|random|nanoid|ulid|cuid", re.IGNORECASE)


def identity(code: str) -> str | None:
    """Name what in an expression depends on the run, None where nothing does."""
    root = js.program(code)
    return _source(root, frozenset(), {}) if root is not None else None


def is_random(source: str) -> bool:
    """Whether a source of run identity is a made-up value, not a number of the run or a time."""
    return bool(_RANDOM.search(source))


def _source(part: Part, skip: frozenset[str], known: dict[str, str]) -> str | None:
    for each in js.walk(part, skip):
        if each.type == "new_expression" and _is_now(each):
            return "new Date()"
        if each.type == "call_expression":
            name = js.field_text(each, "function")
            if _MINTING.match(name.rsplit(".", 1)[-1]) and not _given(each):
                return f"{name}()"
        if each.type in ("member_expression", "identifier", "shorthand_property_identifier"):
            text = js.text_of(each).replace("?.", ".")
            if text in _RUN_IDENTITY:
                return text
            if each.type != "member_expression" and text in known:
                return known[text]
    return None


def _is_now(part: Part) -> bool:
    given = part.child_by_field_name("arguments")
    return js.field_text(part, "constructor") == "Date" and (
        given is None or not given.named_children
    )


def _given(part: Part) -> bool:
    """Whether a call has arguments that could make it depend on the event (uuidv5, moment(x))."""
    given = part.child_by_field_name("arguments")
    return bool(
        given and any(each.type not in ("object", "comment") for each in given.named_children)
    )


_OPAQUE = _FUNCTIONS | {"object", "statement_block"}


@lru_cache(maxsize=512)
def run_values(code: str) -> tuple[tuple[str, str], ...]:
    """Return (name, source) for each variable or property that gets a run's own value."""
    root = js.program(code)
    if root is None:
        return ()
    given = [(name, value) for name, value in _assignments(root) if value is not None]
    known: dict[str, str] = {}
    for _ in range(3):  # a value seldom passes through more than three names
        size = len(known)
        for name, value in given:
            source = _source(value, _OPAQUE, known) if value.type not in _OPAQUE else None
            if source is not None:
                known.setdefault(name, source)
        if len(known) == size:
            break
    return tuple(known.items())


def _assignments(root: Part) -> Iterator[tuple[str, Part | None]]:
    for part in js.walk(root):
        if part.type == "variable_declarator":
            yield js.field_text(part, "name"), part.child_by_field_name("value")
        elif part.type == "assignment_expression":
            left = part.child_by_field_name("left")
            yield (
                (js.chain(left)[-1] if left is not None else ""),
                part.child_by_field_name("right"),
            )
        elif part.type == "pair":
            yield js.key_of(part), part.child_by_field_name("value")
