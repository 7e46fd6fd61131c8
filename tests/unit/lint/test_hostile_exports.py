"""What is no honest export is told as a finding, and never stops the lint."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweeper.n8n.lint import export
from sweeper.n8n.lint.example import GUARDED, flow
from sweeper.n8n.lint.run import lint
from tests.support.lint import LABELS

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
WORDS = (
    "nodes", "connections", "settings", "name", "type", "typeVersion", "parameters", "main",
    "node", "ai_tool", "query", "options", "queryReplacement", "conditions", "rules",
    "values", "jsCode", "Event", "Claim", "Send", "workflow", "assignments", "columns",
    "url", "method", "operation",
)  # fmt: skip
NAMES = st.sampled_from(WORDS)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5)
)


def codes(text: str) -> set[str]:
    """Return the codes of what is found in a text."""
    return {f.code for file in lint({"flow.json": text}) for f in file.findings}


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a structure."""
    found = [path]
    if isinstance(value, dict):
        for name, each in value.items():
            found += paths(each, (*path, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            found += paths(each, (*path, place))
    return found


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """Return a copy of a structure with another value at a path."""
    if not path:
        return by
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = replaced(value[path[0]], path[1:], by)
    return made


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_any_json_gives_findings_and_no_exception(value: Any) -> None:
    """A file that is no workflow is one finding."""
    lint({"flow.json": json.dumps(value)})


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
@settings(max_examples=80, deadline=None)
def test_any_text_gives_findings_and_no_exception(text: str) -> None:
    """What is no JSON is one finding."""
    lint({"flow.json": text})


@given(st.data())
@settings(max_examples=250, deadline=None)
def test_a_real_workflow_with_one_value_gone_wrong_is_still_judged(data: st.DataObject) -> None:
    """Any value anywhere in a labelled workflow may be of any kind."""
    whole = data.draw(st.sampled_from([each.flow for each in LABELS]))
    place = data.draw(st.sampled_from(paths(whole)))
    lint({"flow.json": json.dumps(replaced(whole, place, data.draw(JSON)))})


@given(st.text(alphabet="${}()[].'\"`=>; \n#/*-won:1,", max_size=60))
@settings(max_examples=150, deadline=None)
def test_broken_code_and_queries_are_read_as_far_as_they_go(text: str) -> None:
    """Half an expression, half a query, half a program."""
    broken = flow(
        *GUARDED[:1],
        {**GUARDED[1], "parameters": {**GUARDED[1]["parameters"], "query": f"={text}"}},
        {"name": "Code", "type": "n8n-nodes-base.code", "parameters": {"jsCode": text}},
        {"name": "Body", "type": "n8n-nodes-base.httpRequest",
         "parameters": {"jsonBody": f"={text}"}},
        {"name": "Set", "type": "n8n-nodes-base.set", "parameters": {"values": {"string": [
            {"name": "idem_key", "value": f"={{{{ {text} }}}}"}]}}},
    )  # fmt: skip
    lint({"flow.json": json.dumps(broken)})


@pytest.mark.parametrize(
    "text", ["", "{", "null", "[]", "[1]", '{"nodes": {}}', "\ufeff{}", "NaN", "[" * 100_000]
)
def test_what_is_no_workflow_says_so(text: str) -> None:
    """Silence would look like a clean result."""
    assert codes(text) == {"LW901"}


def test_a_workflow_nested_to_the_depth_is_answered() -> None:
    """Deep parameters are walked without recursion."""
    deep: Any = "x"
    for _ in range(400):
        deep = {"a": [deep]}
    whole = flow(*GUARDED)
    whole["nodes"][0] = {**whole["nodes"][0], "parameters": deep}
    assert codes(json.dumps(whole)) == set()


def test_connections_by_id_and_missing_names_are_followed() -> None:
    """Some exports key their connections by the node's id."""
    whole = flow(*GUARDED)
    ids = {node["name"]: f"id-{place}" for place, node in enumerate(whole["nodes"])}
    whole["nodes"] = [{**node, "id": ids[node["name"]]} for node in whole["nodes"]]
    text = json.dumps(whole["connections"])
    for name, by_id in ids.items():
        text = text.replace(f'"{name}"', f'"{by_id}"')
    whole["connections"] = json.loads(text)
    assert codes(json.dumps(whole)) == set()


def test_a_file_past_the_limit_is_refused_unread() -> None:
    """No export is that long."""
    assert export.read("x" * (export.LONGEST + 1), "f")[1] == ["it is longer than 32 MB"]


def test_large_programs_and_many_nodes_take_no_minutes() -> None:
    """A thousand nodes in a row, and a program of half a megabyte."""
    nodes = [
        {"name": f"n{n}", "type": "n8n-nodes-base.noOp", "parameters": {}} for n in range(1000)
    ]
    program = {"jsCode": "const a = $json.x + 1;\n" * 20_000}
    code = {"name": "code", "type": "n8n-nodes-base.code", "parameters": program}
    began = time.perf_counter()
    lint({"flow.json": json.dumps(flow(*nodes, code))})
    assert time.perf_counter() - began < 20


def test_the_fingerprint_is_of_what_runs() -> None:
    """Moving a node, or another id and credential, is no change; another parameter is."""
    whole = flow(*GUARDED)
    moved = {**whole, "nodes": [
        {**node, "position": [9, 9], "id": "x", "credentials": {"postgres": {"id": "1"}}}
        for node in reversed(whole["nodes"])
    ]}  # fmt: skip
    assert export.fingerprint(whole) == export.fingerprint(moved) != ""
    other = flow(*GUARDED[:4], {**GUARDED[4], "parameters": {"query": "SELECT 1"}})
    assert export.fingerprint(other) != export.fingerprint(whole)
