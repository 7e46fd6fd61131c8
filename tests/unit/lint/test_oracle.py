"""The guard is found by an oracle too: random workflows, run item by item with every answer.

The oracle knows nothing of edges and promises. It walks a workflow as n8n would for one item,
tries each answer at each call, follows each branch by what was answered, and notes every send that
happened without a won mark behind a won claim since the last send. Wherever it finds one, the lint
must say so. It may doubt more: it does not know that two branches on one answer agree.
"""

import json
import random
import sys

import pytest

from sweeper.n8n.lint import export
from sweeper.n8n.lint.example import TRIGGER, by_sql, flow, post, step, when
from sweeper.n8n.lint.flow import Flow

LONGEST = 14  # steps of one item: enough to go around every loop of so small a workflow
KINDS = (
    "claim",
    "claim",
    "mark",
    "mark",
    "gated claim",
    "gated mark",
    "won?",
    "won?",
    "send",
    "rest",
)
BEGINNINGS = (
    (),
    ("gated claim", "gated mark", "send"),
    ("claim", "won?", "gated mark", "rest", "send"),
    ("gated claim", "mark", "rest", "won?", "send"),
)


def drawn(chance: random.Random) -> tuple[dict, dict[str, str], dict[str, list[list[str]]]]:
    """Draw a workflow: the export, the kind of each node, and its ways by output."""
    kinds = {"Event": "trigger"}
    nodes = [TRIGGER]
    row = [*chance.choice(BEGINNINGS), *(chance.choice(KINDS) for _ in range(chance.randint(1, 5)))]
    for number, kind in enumerate(row):
        name = f"n{number}"
        kinds[name] = kind
        nodes.append(made(kind, name))
    ways: dict[str, list[list[str]]] = {}
    names = list(kinds)
    for place, name in enumerate(names):
        outputs = 2 if kinds[name] == "won?" else 1
        ways[name] = [
            [later] if (later := target(chance, names, place)) else [] for _ in range(outputs)
        ]
    wires = "; ".join(
        f"{name}:{output} > {end}"
        for name, outputs in ways.items()
        for output, ends in enumerate(outputs)
        for end in ends
    )
    return flow(*nodes, wires=wires), kinds, ways


def target(chance: random.Random, names: list[str], place: int) -> str | None:
    """Lead mostly to the next node, at times ahead, back, or nowhere."""
    draw = chance.random()
    if draw < 0.8 and place + 1 < len(names):
        return names[place + 1]
    return chance.choice(names[1:]) if draw < 0.93 else None


def made(kind: str, name: str) -> dict:
    """Write a node of a kind."""
    only = "won" if kind.startswith("gated") else ""
    if kind.endswith("claim"):
        argument = "{ workflow: 'w', effect: 'e', event: { id: $json.id } }"
        return by_sql(name, "claim_job", argument, only=only)
    if kind.endswith("mark"):
        return by_sql(name, "mark_sending", "{ workflow: 'w', job_id: 'j' }", only=only)
    if kind == "won?":
        return when(name, "={{ $json.outcome }}", "won")
    return post(name) if kind == "send" else step("noOp", name)


def unguarded(kinds: dict[str, str], ways: dict[str, list[list[str]]]) -> set[str]:
    """Return the sends that some run of one item reaches without its guard."""
    found: set[str] = set()
    seen = set()
    # Where the item is, the last answer (of what, won or not), what was won since the last send.
    stack = [("Event", ("", True), False, False, 0)]
    while stack:
        state = stack.pop()
        if state in seen or state[4] > LONGEST:
            continue
        seen.add(state)
        name, answer, claimed, marked, steps = state
        kind = kinds[name].removeprefix("gated ")
        gated = kinds[name].startswith("gated")
        if kind == "send":
            if not (claimed and marked):
                found.add(name)
            stack += [(end, ("send", False), claimed, False, steps + 1) for end in ways[name][0]]
        elif kind in ("claim", "mark"):
            for won in (True, False):
                if gated and not won:
                    continue
                holds = (won, False) if kind == "claim" else (claimed, won and claimed)
                stack += [(end, (kind, won), *holds, steps + 1) for end in ways[name][0]]
        elif kind == "won?":
            true = answer[0] in ("claim", "mark") and answer[1]
            stack += [(end, answer, claimed, marked, steps + 1) for end in ways[name][not true]]
        else:
            stack += [(end, answer, claimed, marked, steps + 1) for end in ways[name][0]]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_no_run_of_a_workflow_the_lint_calls_guarded_sends_without_a_guard(seed: int) -> None:
    """250 workflows a seed; the lint may doubt a little more than the oracle, never less."""
    chance = random.Random(seed)
    caught = clean = doubted = 0
    for _ in range(250):
        whole, kinds, ways = drawn(chance)
        (workflow,), _ = export.read(json.dumps(whole), "flow")
        judged = Flow(workflow)
        told = {node.name for node in judged.open_sends} | {n.name for n in judged.second_sends}
        real = unguarded(kinds, ways)
        assert real <= told, json.dumps(whole)
        caught += bool(real)
        doubted += told != real
        clean += bool(judged.sends) and not told
    sys.stdout.write(f"{caught} unguarded, {clean} guarded, {doubted} doubted without need\n")
    assert min(caught, clean) > 20
    assert doubted < 10
