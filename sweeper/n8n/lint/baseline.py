"""A list of findings that were there before, so that an installation can begin with the new ones.

A finding is known again by its code, its workflow and its node; how often it occurs is counted, so
a second one at the same node is new. Messages and file names may change.
"""

import json
from collections import Counter
from collections.abc import Iterable

from sweeper.n8n.lint.findings import Finding

type Place = tuple[str, str, str]


def written(findings: Iterable[Finding]) -> str:
    """Return the text of a baseline of these findings."""
    counted = Counter(_place(each) for each in findings)
    rows = [
        {"code": code, "workflow": workflow, "node": node or None, "count": count}
        for (code, workflow, node), count in sorted(counted.items())
    ]
    return json.dumps({"version": 1, "findings": rows}, indent=2, ensure_ascii=False) + "\n"


def read(text: str) -> Counter[Place]:
    """Read a baseline; ValueError says why where the text is none."""
    try:
        rows = json.loads(text)["findings"]
        return Counter(
            {(r["code"], r["workflow"], r["node"] or ""): int(r.get("count", 1)) for r in rows}
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is no baseline: {type(error).__name__}") from error


def new(findings: Iterable[Finding], known: Counter[Place]) -> list[Finding]:
    """Return the findings that a baseline does not know."""
    left = known.copy()
    found = []
    for each in findings:
        place = _place(each)
        if left[place] > 0:
            left[place] -= 1
        else:
            found.append(each)
    return found


def _place(finding: Finding) -> Place:
    return finding.code, finding.workflow, finding.node or ""
