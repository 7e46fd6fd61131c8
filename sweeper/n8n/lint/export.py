"""From the text of an export to workflows: one, ``{workflow: …}``, or an array of either.

Exports in the wild leave defaults out, repeat names, point at nodes that are gone, key connections
by id, give versions as text and nest what should be flat. Whatever cannot be read becomes a problem
of its workflow, in words; nothing here raises.
"""

import hashlib
import json
import math
from collections import Counter
from typing import Any

from sweeper.n8n.lint.model import Edge, Node, Workflow

# Far above any real export; a file past it is refused rather than read for minutes.
LONGEST = 32 * 1024 * 1024


def read(text: str, name: str) -> tuple[list[Workflow], list[str]]:
    """Return the workflows of an export, and why the file or a part of it could not be read."""
    if len(text) > LONGEST:
        return [], [f"it is longer than {LONGEST // 1024 // 1024} MB"]
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return [], [f"it is not JSON: {error}"]
    flows, problems = [], []
    several = isinstance(found, list)
    for place, each in enumerate(found if several else [found]):
        whole = _unwrapped(each)
        if whole is None:
            problems.append(
                f"entry {place} is no workflow" if several else "it holds no list of nodes"
            )
        else:
            flows.append(_workflow(whole, f"{name}[{place}]" if several else name))
    if several and not found:
        problems.append("it holds no workflow")
    return flows, problems


def _unwrapped(found: Any, deepest: int = 3) -> dict[str, Any] | None:
    """Return the object that has the nodes: the innermost, for a gallery lists node types too."""
    if not isinstance(found, dict):
        return None
    inner = found.get("workflow", found.get("data")) if deepest else None
    whole = _unwrapped(inner, deepest - 1) if isinstance(inner, dict) else None
    return whole or (found if isinstance(found.get("nodes"), list) else None)


def _workflow(whole: dict[str, Any], name: str) -> Workflow:
    problems: list[tuple[str | None, str]] = []
    nodes, by_id = _nodes(whole["nodes"], problems)
    by_name = {node.name: node for node in reversed(nodes)}
    edges = _edges(whole.get("connections"), by_name, by_id, problems)
    settings = whole.get("settings")
    active = whole.get("active")
    return Workflow(
        name=_text(whole.get("name")) or name,
        nodes=tuple(nodes),
        edges=tuple(edges),
        settings=settings if isinstance(settings, dict) else {},
        id=_text(whole.get("id")) or None,
        active=active if isinstance(active, bool) else None,
        problems=tuple(problems),
        fingerprint=fingerprint(whole),
    )


def _nodes(
    raw: list[Any], problems: list[tuple[str | None, str]]
) -> tuple[list[Node], dict[str, Node]]:
    nodes, by_id = [], {}
    for place, each in enumerate(raw):
        if not isinstance(each, dict) or not isinstance(each.get("type"), str):
            problems.append((None, f"node {place} has no type"))
            continue
        node = _node(each, place)
        nodes.append(node)
        if isinstance(each.get("id"), str):
            by_id[each["id"]] = node
        if not isinstance(each.get("parameters", {}), dict):
            problems.append((node.name, "its parameters are no object"))
    for name, times in Counter(node.name for node in nodes).items():
        if times > 1:
            problems.append((name, f"{times} nodes have this name, so its connections are a guess"))
    return nodes, by_id


def _node(raw: dict[str, Any], place: int) -> Node:
    parameters = raw.get("parameters")
    on_error = _text(raw.get("onError"))
    if not on_error:
        on_error = "continueRegularOutput" if raw.get("continueOnFail") is True else "stopWorkflow"
    return Node(
        name=_text(raw.get("name")) or f"(node {place})",
        type=raw["type"],
        version=_version(raw.get("typeVersion")),
        parameters=parameters if isinstance(parameters, dict) else {},
        disabled=raw.get("disabled") is True,
        retries=raw.get("retryOnFail") is True,
        on_error=on_error,
        always_output=raw.get("alwaysOutputData") is True,
        execute_once=raw.get("executeOnce") is True,
        notes=_text(raw.get("notes")),
    )


def _version(value: Any) -> float:
    """Read a typeVersion that may be missing (n8n then takes 1) or a text such as '3.4'."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return 1.0
    return found if math.isfinite(found) else 1.0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _edges(
    raw: Any,
    by_name: dict[str, Node],
    by_id: dict[str, Node],
    problems: list[tuple[str | None, str]],
) -> list[Edge]:
    edges: dict[Edge, None] = {}
    if raw is not None and not isinstance(raw, dict):
        problems.append((None, "its connections are no object"))
        return []
    for key, types in (raw or {}).items():
        source = by_name.get(key) or by_id.get(key)
        if source is None:
            problems.append((None, f"connections start at {key!r}, and no node is called that"))
        lost = []
        for kind, output, end in _ends(types):
            target = by_name.get(end) or by_id.get(end)
            if target is None:
                lost.append(end)
            elif source is not None:
                edges[Edge(source, output, target, kind)] = None
        if lost:
            more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            words = f"it is connected to {lost[0]!r}{more}, and no node is called that"
            problems.append((source.name if source else None, words))
    return list(edges)


def _ends(types: Any) -> list[tuple[str, int, str]]:
    """Return (type, output, name of the target) of one node's connections."""
    found: list[tuple[str, int, str]] = []
    for kind, outputs in types.items() if isinstance(types, dict) else ():
        for output, ends in enumerate(outputs if isinstance(outputs, list) else ()):
            found.extend(
                (str(kind), output, end["node"])
                for end in (ends if isinstance(ends, list) else [ends])
                if isinstance(end, dict) and isinstance(end.get("node"), str)
            )
    return found


# What a save in the editor changes without changing what runs.
_LOOKS = frozenset({"position", "id", "notes", "notesInFlow", "color", "webhookId", "credentials"})


def fingerprint(whole: dict[str, Any]) -> str:
    """Return a hash of what runs: nodes without their place on the canvas, connections, settings.

    The order of the nodes, ids and credentials (which differ per instance) do not count, so an
    export and the same workflow read back from n8n give the same text.
    """
    raw = whole.get("nodes")
    nodes = [
        {name: value for name, value in each.items() if name not in _LOOKS}
        for each in (raw if isinstance(raw, list) else [])
        if isinstance(each, dict)
    ]
    nodes.sort(key=lambda node: str(node.get("name")))
    parts = {"nodes": nodes, "connections": whole.get("connections") or {}}
    parts["settings"] = whole.get("settings") or {}
    try:
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (TypeError, RecursionError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()
