"""What JavaScript says, without running it: expressions in ``{{ }}`` and Code nodes.

A real parser (tree-sitter) reads the text, errors and all; this module answers the few questions
rules have: which data is referred to, what depends on the run instead of on the event, and which
names a program gives such a value.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import tree_sitter_javascript
from tree_sitter import Language, Parser
from tree_sitter import Node as Part

_PARSER = Parser(Language(tree_sitter_javascript.language()))
# A program past this is nobody's key and nobody's gate; reading it would take seconds.
_LONGEST = 400_000

_IN_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


@dataclass(frozen=True)
class Reference:
    """Data an expression reads: of the item at hand (``node`` is None) or of a node by its name."""

    node: str | None
    path: tuple[str, ...]


def expressions(text: str) -> list[str]:
    """Return the JavaScript between braces, cut where n8n cuts it: at the first ``}}``."""
    return _IN_BRACES.findall(text) if "{{" in text else []


def only_expression(text: str) -> str | None:
    """Return the JavaScript of a parameter that is one expression and nothing beside it."""
    found = text.strip().removeprefix("=").strip()
    if found.startswith("{{") and found.endswith("}}"):
        inside = found[2:-2]
        if "{{" not in inside and "}}" not in inside:
            return inside.strip()
    return None


@lru_cache(maxsize=512)
def program(code: str) -> Part | None:
    """Parse a program or an expression; None for one too long to read."""
    if len(code) > _LONGEST:
        return None
    return _PARSER.parse(code.encode("utf-8", "replace")).root_node


@lru_cache(maxsize=512)
def expression(code: str) -> Part | None:
    """Parse one expression, an object literal too, and return it without its brackets."""
    root = program(f"({code}\n)")
    if root is None or root.has_error or root.named_child_count != 1:
        return None
    return bare(root.named_children[0].named_children[0])


def bare(part: Part) -> Part:
    """Return what is inside brackets."""
    while part.type == "parenthesized_expression" and part.named_children:
        part = part.named_children[0]
    return part


def text_of(part: Part) -> str:
    """Return the source of a part."""
    return (part.text or b"").decode("utf-8", "replace")


def walk(part: Part, skip: frozenset[str] = frozenset()) -> Iterator[Part]:
    """Yield a part and everything in it, in the order of the text, but not inside skipped types."""
    stack = [part]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(each for each in reversed(found.named_children) if each.type not in skip)


def string_of(part: Part | None) -> str | None:
    """Return the text of a string literal, None for anything else."""
    if part is None or part.type not in ("string", "template_string"):
        return None
    if any(each.type == "template_substitution" for each in part.named_children):
        return None
    return text_of(part)[1:-1]


def chain(part: Part) -> list[str]:
    """Flatten ``a.b['c'](…).d`` to its names; a call by name keeps its text: ``$('Node')``."""
    names: list[str] = []
    while True:
        if part.type == "member_expression":
            names.append(field_text(part, "property"))
            part = part.child_by_field_name("object") or part
        elif part.type == "subscript_expression":
            index = part.child_by_field_name("index")
            names.append(string_of(index) or "[]")
            part = part.child_by_field_name("object") or part
        elif part.type == "call_expression":
            called = part.child_by_field_name("function")
            given = part.child_by_field_name("arguments")
            if called is None:
                break
            if called.type == "identifier" and text_of(called) in ("$", "$items"):
                first = given.named_children[0] if given and given.named_children else None
                names.extend(("()", string_of(first) or "", "$"))
                break
            part = called
        elif part.type in ("parenthesized_expression", "await_expression", "non_null_expression"):
            if not part.named_children:
                break
            part = part.named_children[0]
        else:
            names.append(text_of(part) if part.type in ("identifier", "this") else "")
            break
    return names[::-1]


def field_text(part: Part, name: str) -> str:
    """Return the source of a named child, '' where there is none."""
    found = part.child_by_field_name(name)
    return text_of(found) if found is not None else ""


def _chains(root: Part) -> Iterator[tuple[Part, list[str]]]:
    """Yield each whole chain of names once, not its beginnings."""
    for part in walk(root):
        if part.type not in ("member_expression", "subscript_expression", "identifier"):
            continue
        above = part.parent
        inner = above is not None and (
            above.type in ("member_expression", "subscript_expression")
            and above.child_by_field_name("object") == part
        )
        if inner or (above is not None and _continues(part, above)):
            continue
        yield part, chain(part)


def _continues(part: Part, above: Part) -> bool:
    """Whether this is the function of a call that a longer chain goes on from."""
    if above.type != "call_expression" or above.child_by_field_name("function") != part:
        return False
    further = above.parent
    return (
        further is not None
        and further.type in ("member_expression", "subscript_expression")
        and further.child_by_field_name("object") == above
    )


_READERS = frozenset({"item", "first", "last", "all", "itemMatching", "pairedItem", "[]", "()"})


@lru_cache(maxsize=2048)
def references(code: str) -> tuple[Reference, ...]:
    """Return the data an expression or a program reads."""
    root = program(code)
    if root is None:
        return ()
    found: dict[Reference, None] = {}
    for _, names in _chains(root):
        reference = _reference(names)
        if reference is not None:
            found[reference] = None
    if "$(" in code or "$items(" in code:
        for part in walk(root):
            if part.type == "call_expression":
                reference = _reference(_whole(part))
                if reference is not None and reference.node is not None:
                    found.setdefault(reference, None)
    return tuple(found)


def _whole(part: Part) -> list[str]:
    """Return the chain a call ends, for ``$('Node').all()`` with nothing behind it."""
    above = part.parent
    if above is not None and above.type in ("member_expression", "subscript_expression"):
        return []
    return chain(part)


def _reference(names: list[str]) -> Reference | None:
    if not names:
        return None
    base, rest = names[0], names[1:]
    node: str | None = None
    if base == "$json":
        return Reference(None, tuple(rest))
    if base == "$":
        node, rest = (rest[0] if rest else ""), rest[2:]
    elif base == "$node" and rest:
        node, rest = rest[0], rest[1:]
    elif base not in ("$input", "items", "item", "$item") and (not rest or rest[0] != "json"):
        return None
    while rest and rest[0] in _READERS:
        rest = rest[1:]
    if rest and rest[0] == "json":
        return Reference(node, tuple(rest[1:]))
    return Reference(node, ()) if node is not None or base in ("$input", "items") else None


def key_of(pair: Part) -> str:
    """Return the name of an object's member, '' where it is computed."""
    key = pair.child_by_field_name("key")
    if key is None or key.type == "computed_property_name":
        return ""
    return string_of(key) or text_of(key)
