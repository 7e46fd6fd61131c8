"""The shipped workflows as files: each outcome has a way, each delivery an answer, no secret."""

import json
from typing import Any

import pytest

from sweeper.n8n import templates
from sweeper.n8n.doors import HTTP_DOOR, HTTP_TYPE, SQL_DOOR, SQL_TYPE
from sweeper.n8n.lint import conditions
from sweeper.n8n.lint.export import read
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node, Workflow
from sweeper.n8n.lint.run import lint

NAMES = templates.names()
PAIRS = ("guarded-webhook", "worker-loop", "field-write")
TEXTS = {name: (templates.FOLDER / f"{name}.json").read_text() for name in NAMES}
FLOWS = {name: Flow(read(text, name)[0][0]) for name, text in TEXTS.items()}

CLAIMED = "won replay held_by_other in_review dead_lettered already_applied superseded"
REFUSED = "unknown_effect invalid wrong_role"
ANSWERS = {  # what each operation can answer, as its callers were promised
    "claim_job": f"{CLAIMED} payload_mismatch missing_key key_is_run_identity lost_claim {REFUSED}",
    "enqueue_job": "inserted matched replay already_applied superseded payload_mismatch"
    f" missing_key key_is_run_identity {REFUSED}",
    "claim_next_job": "won empty invalid wrong_role",
    "heartbeat_job": "won held_by_other lost_claim in_review already_done invalid wrong_role",
    "mark_sending": "won missing_key key_mismatch lease_expired already_marked in_review"
    " held_by_other lost_claim invalid wrong_role",
    "complete_job": "won replay result_mismatch held_by_other in_review lost_claim invalid"
    " wrong_role",
    "fail_job": "won replay held_by_other lost_claim invalid wrong_role",
    "release_job": "won replay held_by_other already_marked lost_claim invalid wrong_role",
    "read_record": "won lost_record unknown_target invalid wrong_role",
    "write_fields": "won replay stale_version rule_failed not_owner_of_field bad_transition"
    " lost_record payload_mismatch missing_key in_review unknown_target invalid wrong_role",
    "post_conflict": "inserted replay invalid wrong_role",
    "read_conflict": "won empty invalid wrong_role",
    "post_failed_job": "inserted replay wrong_role invalid",
    "start_batch": "won matched held_by_other invalid wrong_role",
    "advance_batch": "won replay stale_version held_by_other lost_claim invalid wrong_role",
    "finish_batch": "won replay held_by_other invalid wrong_role",
    "start_run": "won replay invalid wrong_role",
    "complete_run": "won replay already_terminal invalid wrong_role",
    "fail_run": "won replay already_terminal invalid wrong_role",
    "daily_report": "won empty invalid wrong_role",
}


def outputs(node: Node) -> int:
    """Return how many ways out a node has."""
    if node.kind == "switch":
        return len(node.entries("rules.values")) + 1
    if node.kind == "stopAndError":
        return 0
    return 2 if node.kind in ("if", "splitInBatches") or node.on_error != "stopWorkflow" else 1


def ways(workflow: Workflow, node: Node, output: int) -> set[Node]:
    """Return what an output of a node is wired to."""
    return {edge.target for edge in workflow.ways_out.get(node, ()) if edge.output == output}


def test_the_lint_finds_nothing() -> None:
    """No rule finds anything in a shipped workflow."""
    found = [each for file in lint(TEXTS) for each in file.findings]

    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_every_outcome_has_a_way(name: str) -> None:
    """Each answer of each call leads somewhere, and what a call accepts has a rule of its own."""
    flow = FLOWS[name]
    for node, call in flow.calls.items():
        assert ways(flow.workflow, node, 1), f"{node.name}: its error output"
        (reader,) = ways(flow.workflow, node, 0)
        if reader.kind != "switch":  # every answer leads on to the same
            assert call.operation in ("fail_job", "release_job"), node.name
            continue
        told = {
            word: output
            for output, tests in conditions.promises(reader).items()
            for test in tests
            if test.names[-1] == "outcome"
            for word in test.values
        }
        for output in range(outputs(reader)):
            assert ways(flow.workflow, reader, output), f"{reader.name}: output {output}"
        for word in ANSWERS[call.operation].split():
            if word in (call.accepted or ()):
                assert word in told, f"{node.name} accepts {word}, and {reader.name} has no rule"
        extra = set(told) - set(ANSWERS[call.operation].split())
        assert not extra, f"{reader.name} reads {extra}, which {call.operation} never answers"


@pytest.mark.parametrize("name", NAMES)
def test_every_delivery_is_answered(name: str) -> None:
    """No way from a webhook ends before a Respond node."""
    workflow = FLOWS[name].workflow
    waiting, seen = list(workflow.of("webhook")), set()
    while waiting:
        node = waiting.pop()
        if node in seen or node.kind == "respondToWebhook":
            continue
        seen.add(node)
        for output in range(max(1, outputs(node))):
            found = ways(workflow, node, output)
            assert found, f"{name}: {node.name} ends the run at output {output} without an answer"
            waiting.extend(found)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_anybodys_installation_is_in_it(name: str) -> None:
    """No id and no secret: credentials stand there by name."""
    document = json.loads(TEXTS[name])

    assert set(document) == {"name", "nodes", "connections", "settings"}
    assert document["name"] == name
    allowed = {(HTTP_TYPE, f"{HTTP_DOOR}: {name}"), (SQL_TYPE, SQL_DOOR)}
    for node in document["nodes"]:
        for kind, credential in node.get("credentials", {}).items():
            assert credential["id"] is None
            ours = "/api/v1/" in str(node["parameters"]) or "ledger." in str(node["parameters"])
            assert not ours or (kind, credential["name"]) in allowed, node["name"]


@pytest.mark.parametrize("name", NAMES)
def test_sends_are_never_repeated_by_n8n_and_loops_wait_differently(name: str) -> None:
    """Sends have no Retry On Fail; a wait in a loop is of random length; errors are heard of."""
    flow = FLOWS[name]

    assert flow.all_guarded or name == "batch-cursor"  # which calls a workflow: itself
    assert not [node.name for node in flow.sends if node.retries]
    for node in flow.workflow.of("wait"):
        assert "Math.random()" in node.text("amount"), node.name
    errors = flow.workflow.settings.get("errorWorkflow")
    assert errors == (None if name == templates.ERRORS else templates.ERRORS)


@pytest.mark.parametrize("name", PAIRS)
def test_both_doors_are_one_canvas(name: str) -> None:
    """The two variants of a workflow differ in their calls alone."""
    by_http, by_sql = (FLOWS[f"{name}-{door}"] for door in ("http", "sql"))

    assert [node.name for node in by_http.workflow.nodes] == [
        node.name for node in by_sql.workflow.nodes
    ]
    raw = [json.loads(TEXTS[f"{name}-{door}"]) for door in ("http", "sql")]
    assert raw[0]["connections"] == raw[1]["connections"]
    for left, right in zip(raw[0]["nodes"], raw[1]["nodes"], strict=True):
        assert left["position"] == right["position"]
    calls = [{n.name: c.operation for n, c in flow.calls.items()} for flow in (by_http, by_sql)]
    assert calls[0] == calls[1]


@pytest.mark.parametrize("name", NAMES)
def test_addresses_are_filled_in(name: str) -> None:
    """Nothing on this machine is left in an exported file."""
    filled = templates.text(name, templates.Addresses("https://l.example", "https://r.example"))
    found: list[dict[str, Any]] = json.loads(filled)["nodes"]

    assert "127.0.0.1" not in filled
    urls = [node["parameters"]["url"] for node in found if "url" in node["parameters"]]
    assert all(url.removeprefix("=").startswith("https://") for url in urls)
