"""What a rule is and what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.known import Known
from sweeper.n8n.lint.model import Node

type Check = Callable[[Flow], Iterator["Hit"]]


@dataclass(frozen=True)
class Hit:
    """One thing a rule found: its node, None for the workflow, and what is wrong there."""

    node: Node | None
    message: str


@dataclass(frozen=True)
class Rule:
    """One rule in words, with a workflow that breaks it and one that does not.

    ``code`` is stable: baselines and suppressions name it, so it is never given to another rule.
    ``also`` names the rules that the bad example breaks as a consequence.
    """

    code: str
    name: str
    level: Literal["error", "warning"]
    what: str
    why: str
    fix: str
    bad: Any
    good: Any
    known: Known = field(default_factory=Known)
    also: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Finding:
    """A hit with its place: the file, the workflow in it, the node by name."""

    code: str
    rule: str
    level: str
    message: str
    file: str
    workflow: str
    node: str | None
    suppressed: str | None = None
