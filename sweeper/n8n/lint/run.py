"""From the texts of some exports to findings: the one entry, still pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sweeper.n8n.lint import export
from sweeper.n8n.lint.findings import Finding, Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.known import Known
from sweeper.n8n.lint.model import Workflow
from sweeper.n8n.lint.rules import all_rules
from sweeper.n8n.lint.rules.unreadable_export import RULE as UNREADABLE

# In a node's notes: which rule is not meant here, and why. Without a reason it does not count.
_ALLOWED = re.compile(r"landed-allow\s+(LW\d{3})\s*:\s*(\S.{2,})")


@dataclass(frozen=True)
class Read:
    """One file: its workflows, and what was found in it."""

    file: str
    workflows: tuple[Workflow, ...]
    findings: tuple[Finding, ...]


def lint(texts: Mapping[str, str], known: Known | None = None) -> list[Read]:
    """Read some exports together and judge each by every rule."""
    parsed = {file: export.read(text, _short(file)) for file, text in texts.items()}
    together = tuple(flow for flows, _ in parsed.values() for flow in flows)
    known = replace(known or Known(), siblings=together)
    return [
        Read(file, tuple(flows), tuple(_findings(file, flows, problems, known)))
        for file, (flows, problems) in parsed.items()
    ]


def _short(file: str) -> str:
    return file.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".json")


def _findings(
    file: str, flows: Iterable[Workflow], problems: Iterable[str], known: Known
) -> Iterator[Finding]:
    for words in problems:
        yield _finding(UNREADABLE, Hit(None, words), file, "")
    for workflow in flows:
        flow = Flow(workflow, known)
        for rule, check in all_rules():
            told = set()
            for hit in check(flow):
                finding = _finding(rule, hit, file, workflow.name)
                if finding not in told:
                    told.add(finding)
                    yield finding


def _finding(rule: Rule, hit: Hit, file: str, workflow: str) -> Finding:
    notes = hit.node.notes if hit.node is not None else ""
    allowed = {code: reason.strip() for code, reason in _ALLOWED.findall(notes)}
    name = hit.node.name if hit.node is not None else None
    return Finding(
        rule.code, rule.name, rule.level, hit.message, file, workflow, name, allowed.get(rule.code)
    )
