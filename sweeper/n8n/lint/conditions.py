"""What holds for the items that leave an output of an If, Filter or Switch node.

Read from every form these nodes have had. What is not understood promises nothing, so a rule that
needs a promise does not get one.
"""

from dataclasses import dataclass
from typing import Any

from tree_sitter import Node as Part

from sweeper.n8n.lint import js
from sweeper.n8n.lint.model import Node

ANYTHING = frozenset({"*"})
"""Stands for "there is a value", whichever."""


@dataclass(frozen=True)
class Test:
    """A value, by the names that read it, is (or is not) one of some texts."""

    names: tuple[str, ...]
    values: frozenset[str]
    holds: bool

    def otherwise(self) -> "Test":
        """Return what holds where this does not."""
        return Test(self.names, self.values, not self.holds)


def promises(node: Node) -> dict[int, list[Test]]:
    """Return, by output, the tests that every item leaving it has passed."""
    if node.kind == "switch":
        return _switch(node)
    tests, any_of = _conditions(node)
    if node.kind == "filter":
        return {0: _all(tests, any_of)}
    return {0: _all(tests, any_of), 1: _none(tests, any_of)}


def _all(tests: list[Test | None], any_of: bool) -> list[Test]:
    """Return what holds where the condition is true."""
    known = [test for test in tests if test is not None]
    if not any_of or len(tests) == 1:
        return known
    same = len({test.names for test in known}) == 1 and all(test.holds for test in known)
    if not same or len(known) != len(tests):
        return []
    return [Test(known[0].names, frozenset().union(*(test.values for test in known)), holds=True)]


def _none(tests: list[Test | None], any_of: bool) -> list[Test]:
    """Return what holds where the condition is false."""
    if any_of or len(tests) == 1:
        return [test.otherwise() for test in tests if test is not None]
    return []


def _conditions(node: Node, found: Any = None) -> tuple[list[Test | None], bool]:
    """Return the tests of a node and whether one of them is enough."""
    found = node.get("conditions") if found is None else found
    if not isinstance(found, dict):
        return [None], False
    listed = found.get("conditions")
    if isinstance(listed, list):
        return [_test(each) for each in listed] or [None], found.get("combinator") == "or"
    rows = [(kind, row) for kind, rows in found.items() if isinstance(rows, list) for row in rows]
    tests = [_old_test(kind, row) for kind, row in rows]
    return tests or [None], node.text("combineOperation", "all") == "any"


def _test(found: Any) -> Test | None:
    if not isinstance(found, dict):
        return None
    operator = found.get("operator")
    operation = operator.get("operation") if isinstance(operator, dict) else operator
    left, right = found.get("leftValue"), found.get("rightValue")
    return _made(left, operation, right)


def _old_test(kind: str, row: Any) -> Test | None:
    if not isinstance(row, dict):
        return None
    operation = row.get("operation", "smaller" if kind == "number" else "equal")
    right = row.get("value2", True if kind == "boolean" else "")
    return _made(row.get("value1"), operation, right)


_EQUAL, _OTHER = ("equals", "equal"), ("notEquals", "notEqual")
_THERE = ("exists", "notEmpty", "isNotEmpty")
_GONE = ("notExists", "empty", "isEmpty")


def _made(left: Any, operation: Any, right: Any) -> Test | None:
    code = js.only_expression(left) if isinstance(left, str) else None
    if code is None or not isinstance(operation, str):
        return None
    if operation in ("true", "false") or isinstance(right, bool):
        wanted = operation != "false" and (operation == "true" or right is not False)
        return _boolean(code, wanted if operation not in _OTHER else not wanted)
    names = _names(code)
    if names is None:
        return None
    if operation in _THERE or operation in _GONE:
        return Test(names, ANYTHING, operation in _THERE)
    plain = str(right) if isinstance(right, str | int | float) else "="
    if plain.startswith("=") or operation not in _EQUAL + _OTHER:
        return None
    return Test(names, frozenset({plain}), operation in _EQUAL)


def _boolean(code: str, wanted: bool) -> Test | None:
    found = tested(code)
    if found is not None:
        return Test(found[0], found[1], found[2] is wanted)
    negated = code.lstrip("!").strip()
    names = _names(negated)
    turned = (len(code) - len(code.lstrip("!"))) % 2 == 1
    return Test(names, ANYTHING, wanted is not turned) if names else None


def _names(code: str) -> tuple[str, ...] | None:
    part = js.expression(code)
    if part is None or part.type not in ("member_expression", "subscript_expression", "identifier"):
        return None
    return tuple(js.chain(part))


def _switch(node: Node) -> dict[int, list[Test]]:
    found: dict[int, list[Test]] = {}
    if node.text("mode", "rules") != "rules":
        return {}
    for output, rule in enumerate(node.entries("rules.values")):
        tests, any_of = _conditions(node, rule.get("conditions"))
        found[output] = _all(tests, any_of)
    left = node.get("value1")
    for place, rule in enumerate(node.entries("rules.rules")):
        test = _made(left, rule.get("operation", "equal"), rule.get("value2"))
        output = rule.get("output", place)
        found[output if isinstance(output, int) else place] = [test] if test else []
    return found


def tested(code: str) -> tuple[tuple[str, ...], frozenset[str], bool] | None:
    """Read a test of one value: the names that read it, the texts it may be, equal or not.

    Understands ``a === 'x'``, ``!==``, alternatives of the first by ``||``, ``['x'].includes(a)``,
    and one of these beside anything else by ``&&``.
    """
    part = js.expression(code)
    return _tested(part) if part is not None else None


def _tested(part: Part) -> tuple[tuple[str, ...], frozenset[str], bool] | None:
    part = js.bare(part)
    if part.type == "call_expression":
        return _included(part)
    if part.type != "binary_expression":
        return None
    left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
    sign = js.field_text(part, "operator")
    if left is None or right is None:
        return None
    if sign == "||":
        one, other = _tested(left), _tested(right)
        if one and other and one[0] == other[0] and one[2] and other[2]:
            return one[0], one[1] | other[1], True
        return None
    if sign == "&&":
        return next((each for each in (_tested(left), _tested(right)) if each and each[2]), None)
    value = js.string_of(right) or (js.text_of(right) if right.type == "number" else None)
    if value is None or sign not in ("===", "==", "!==", "!="):
        return None
    return tuple(js.chain(js.bare(left))), frozenset({value}), sign[0] == "="


def _included(part: Part) -> tuple[tuple[str, ...], frozenset[str], bool] | None:
    called, given = part.child_by_field_name("function"), part.child_by_field_name("arguments")
    if called is None or given is None or js.field_text(called, "property") != "includes":
        return None
    words = called.child_by_field_name("object")
    if words is None or words.type != "array" or given.named_child_count != 1:
        return None
    texts = [js.string_of(each) for each in words.named_children]
    if any(text is None for text in texts):
        return None
    names = tuple(js.chain(given.named_children[0]))
    return names, frozenset(text for text in texts if text is not None), True
