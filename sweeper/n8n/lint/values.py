"""What a parameter will hold: an object with known members, a literal, or an expression.

n8n writes objects as JSON with ``{{ }}`` in it, as a JavaScript object in one expression, or as
rows of name and value; all become the same three shapes. None means that it cannot be read.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node as Part

from sweeper.n8n.lint import js


@dataclass(frozen=True)
class Literal:
    """A value that stands in the export."""

    value: Any


@dataclass(frozen=True)
class Computed:
    """A value that an expression gives; ``code`` is the JavaScript of it."""

    code: str


@dataclass(frozen=True)
class Members:
    """An object; ``spread`` holds the code of what is poured into it beside its named members."""

    named: dict[str, "Value"] = field(default_factory=dict)
    spread: tuple[str, ...] = ()


type Value = Literal | Computed | Members

_IN_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*"')
_MARK = "\x01"


def of_text(text: str) -> Value | None:
    """Read a parameter that stands for an object: JSON with braces in it, or one expression."""
    code = js.only_expression(text)
    if code is not None:
        return of_code(code)
    return _of_json(text.strip().removeprefix("="))


def of_field(text: Any) -> Value:
    """Read a parameter that stands for one value: its text, or what its expressions give."""
    if not isinstance(text, str) or not text.startswith("="):
        return Literal(text)
    code = js.only_expression(text)
    if code is not None:
        return of_code(code) or Computed(code)
    inside = js.expressions(text)
    return Computed(" + ".join(f"({each})" for each in inside)) if inside else Literal(text[1:])


def of_code(code: str) -> Value | None:
    """Read an expression of JavaScript."""
    part = js.expression(code)
    return _of_part(part) if part is not None else None


def _of_part(part: Part) -> Value:
    part = js.bare(part)
    if part.type == "object":
        return _of_object(part)
    if part.type == "call_expression":
        inner = _stringified(part)
        if inner is not None:
            return _of_part(inner)
    if part.type in ("number", "true", "false", "null"):
        return Literal(
            json.loads(js.text_of(part)) if _is_json(js.text_of(part)) else js.text_of(part)
        )
    text = js.string_of(part)
    return Literal(text) if text is not None else Computed(js.text_of(part))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _stringified(part: Part) -> Part | None:
    """Return what JSON.stringify or JSON.parse is given: the same object in another form."""
    called, given = part.child_by_field_name("function"), part.child_by_field_name("arguments")
    if called is None or given is None or not given.named_children:
        return None
    name = js.text_of(called)
    return given.named_children[0] if name in ("JSON.stringify", "JSON.parse") else None


def _of_object(part: Part) -> Members:
    named: dict[str, Value] = {}
    spread: list[str] = []
    for each in part.named_children:
        if each.type == "pair":
            value = each.child_by_field_name("value")
            name = js.key_of(each)
            if value is not None and name:
                named[name] = _of_part(value)
            else:
                spread.append(js.text_of(each))
        elif each.type == "shorthand_property_identifier":
            named[js.text_of(each)] = Computed(js.text_of(each))
        elif each.type == "spread_element":
            spread.append(js.text_of(each.named_children[0]) if each.named_children else "")
        elif each.type == "method_definition":
            spread.append(js.text_of(each))
    return Members(named, tuple(spread))


def _of_json(text: str) -> Value | None:
    codes: list[str] = []
    plain: list[str] = []
    inside, last = False, 0  # in a text of JSON, up to where
    for found in _IN_BRACES.finditer(text):
        before = text[last : found.start()]
        inside = inside is not (len(_QUOTE.findall(before)) % 2 == 1)
        name = f"{_MARK}{len(codes)}{_MARK}"
        codes.append(found[1].strip())
        plain += [before, name if inside else f'"{name}"']
        last = found.end()
    try:
        loaded = json.loads("".join([*plain, text[last:]]), strict=False)
    except (ValueError, RecursionError):
        return None
    return _of_loaded(loaded, codes)


def _of_loaded(found: Any, codes: list[str]) -> Value:
    if isinstance(found, dict):
        return Members({str(name): _of_loaded(each, codes) for name, each in found.items()})
    if isinstance(found, str) and _MARK in found:
        used = [codes[int(place)] for place in re.findall(f"{_MARK}(\\d+){_MARK}", found)]
        whole = re.fullmatch(f"{_MARK}\\d+{_MARK}", found)
        if whole:
            return of_code(used[0]) or Computed(used[0])
        return Computed(" + ".join(f"({each})" for each in used))
    return Literal(found)


def member(value: Value | None, *names: str) -> Value | None:
    """Return what is under these names, None where it is not known to be there."""
    for name in names:
        if not isinstance(value, Members):
            return None
        value = value.named.get(name)
    return value


def codes(value: Value | None) -> list[str]:
    """Return every expression in a value, however deep."""
    if isinstance(value, Computed):
        return [value.code]
    if isinstance(value, Members):
        return [code for each in value.named.values() for code in codes(each)] + list(value.spread)
    return []
