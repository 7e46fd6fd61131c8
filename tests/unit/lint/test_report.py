"""Findings as text, JSON and SARIF; a baseline; what is allowed in a node's notes."""

import json
from typing import Any

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from sweeper.n8n.lint import baseline, report
from sweeper.n8n.lint.example import TRIGGER, flow, post, step
from sweeper.n8n.lint.findings import Finding
from sweeper.n8n.lint.rules import all_rules
from sweeper.n8n.lint.run import lint
from tests.support.lint import LABELS

ALLOWED = "landed-allow LW301: the channel may hear it twice"


def found(whole: Any, file: str = "a b/flow.json") -> list[Finding]:
    """Return the findings of a workflow."""
    return [each for read in lint({file: json.dumps(whole)}) for each in read.findings]


def test_text_names_file_workflow_node_rule_and_counts() -> None:
    """One line a finding, then the sum."""
    lines = report.text(found(flow(TRIGGER, post("Send"))), 1).splitlines()
    assert lines[0].startswith(
        "a b/flow.json: example / Send: LW301 unguarded-send: nothing claims"
    )
    assert lines[1] == "1 workflow: 1 finding."


def test_json_carries_every_finding_as_an_object() -> None:
    """Scripts read codes and nodes, not sentences."""
    told = json.loads(report.as_json(found(flow(TRIGGER, post("Send"))), 1))
    assert (told["version"], told["workflows"]) == (1, 1)
    assert [(f["code"], f["node"], f["suppressed"]) for f in told["findings"]] == [
        ("LW301", "Send", None)
    ]


def test_sarif_is_read_by_the_schema_of_2_1_0() -> None:
    """Every labelled workflow's findings make a log that the schema's own models accept."""
    findings = [each for label in LABELS for each in found(label.flow)]
    told = json.loads(report.sarif(findings, len(LABELS)))
    Sarif.model_validate(told)
    run = told["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule, _ in all_rules()]
    assert len(run["results"]) == len(findings)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == "a%20b/flow.json"


def test_a_finding_allowed_with_a_reason_is_told_as_such() -> None:
    """It stays in every output, and counts as none."""
    findings = found(flow(TRIGGER, step("slack", "Tell", text="hi", notes=ALLOWED)))
    assert [each.suppressed for each in findings] == ["the channel may hear it twice"]
    assert report.text(findings, 1).endswith(
        "1 workflow: no findings, 1 allowed in the notes of their nodes.\n"
    )
    result = json.loads(report.sarif(findings, 1))["runs"][0]["results"][0]
    assert result["suppressions"][0]["justification"] == "the channel may hear it twice"


@pytest.mark.parametrize(
    "notes", ["landed-allow LW301", "landed-allow LW301: ", "landed-allow LW302: why"]
)
def test_without_a_reason_or_for_another_rule_nothing_is_allowed(notes: str) -> None:
    """A reason is what the next reader needs."""
    findings = found(flow(TRIGGER, step("slack", "Tell", text="hi", notes=notes)))
    assert [(each.code, each.suppressed) for each in findings] == [("LW301", None)]


def test_a_baseline_leaves_only_what_is_new() -> None:
    """The same node is known again in another file; a second finding is not."""
    before = found(flow(TRIGGER, post("Send")))
    known = baseline.read(baseline.written(before))
    assert baseline.new(found(flow(TRIGGER, post("Send")), "other.json"), known) == []
    more = found(flow(TRIGGER, post("Send"), post("Again")))
    assert [each.node for each in baseline.new(more, known)] == ["Again"]
    assert len(baseline.new(before + before, known)) == len(before)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"findings": [1]}', '{"findings": [{"code": 1}]}']
)
def test_what_is_no_baseline_says_so(text: str) -> None:
    """A wrong file must not pass for an empty baseline."""
    with pytest.raises(ValueError, match="this is no baseline"):
        baseline.read(text)
