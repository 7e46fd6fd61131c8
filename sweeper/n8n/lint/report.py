"""Findings as text for people, as JSON for scripts, and as SARIF 2.1.0 for code review tools."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from sweeper.n8n.lint.findings import Finding
from sweeper.n8n.lint.rules import all_rules

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text(findings: Sequence[Finding], read: int) -> str:
    """Return one line a finding, and how many there are."""
    lines = [_line(each) for each in findings]
    wrong = sum(each.suppressed is None for each in findings)
    allowed = len(findings) - wrong
    tail = f", {allowed} allowed in the notes of their nodes" if allowed else ""
    workflows = f"{read} workflow{'' if read == 1 else 's'}"
    lines.append(f"{workflows}: {wrong or 'no'} finding{'' if wrong == 1 else 's'}{tail}.")
    return "\n".join(lines) + "\n"


def _line(finding: Finding) -> str:
    place = f"{finding.workflow} / {finding.node}" if finding.node else finding.workflow
    allowed = f" (allowed: {finding.suppressed})" if finding.suppressed else ""
    where = f"{finding.file}: " + (f"{place}: " if place else "")
    return f"{where}{finding.code} {finding.rule}: {finding.message}{allowed}"


def as_json(findings: Sequence[Finding], read: int) -> str:
    """Return the findings as one object."""
    whole = {"version": 1, "workflows": read, "findings": [asdict(each) for each in findings]}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def sarif(findings: Sequence[Finding], _read: int) -> str:
    """Return the findings as a SARIF log with every rule described."""
    rules = [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.what},
            "fullDescription": {"text": rule.why},
            "help": {"text": rule.fix},
            "defaultConfiguration": {"level": rule.level},
        }
        for rule, _ in all_rules()
    ]
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    driver = {"name": "Landed workflow lint", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "results": [_result(each, places[each.code]) for each in findings],
    }
    whole = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _result(finding: Finding, place: int) -> dict[str, Any]:
    name = f"{finding.workflow}/{finding.node}" if finding.node else finding.workflow
    artifact = {"uri": quote(finding.file.replace("\\", "/"))}
    made: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": place,
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": 1}},
                "logicalLocations": [{"fullyQualifiedName": name, "kind": "element"}],
            }
        ],
        "partialFingerprints": {"landed/v1": f"{finding.code}:{name}"},
    }
    if finding.suppressed:
        made["suppressions"] = [{"kind": "inSource", "justification": finding.suppressed}]
    return made


FORMATS = {"text": text, "json": as_json, "sarif": sarif}
