"""The watch for drift: whether n8n runs what was deployed, for every workflow with an export.

A deploy keeps a hash of what runs; here n8n is asked what it runs now. What differs was changed
outside a deploy: nobody checked its fields and its sends. It is told as an alert for each workflow,
which ends when n8n runs what is deployed again, by whichever way. Nothing is changed in n8n.
"""

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ledger.models import Alert, Workflow
from sweeper import looks
from sweeper.errors import LookupInconclusiveError, ProviderError
from sweeper.n8n import instances
from sweeper.n8n.api import Api, ApiError
from sweeper.n8n.instances import Instance
from sweeper.n8n.lint.export import fingerprint
from sweeper.ticks import TICK_SECONDS, Lock, Tick, seconds, tick

NAME = "drift"
LONGEST_NAME = 150
"""Letters of a workflow's name in an alert's key."""
MOST = 1_000
"""Workflows of one look."""
GONE = 404


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What one look found; ``unreachable`` says why an n8n could not be asked.

    ``not_asked`` counts the workflows there was no time for.
    """

    compared: int = 0
    changed: tuple[str, ...] = ()
    not_running: int = 0
    not_asked: int = 0
    unreachable: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def run_once() -> Tick[DriftReport]:
    """Look once, if nobody else does."""
    return tick(NAME, _look, interval_seconds=seconds("drift_interval_s"))


def _look(lock: Lock) -> DriftReport:
    """Compare what runs with what is deployed, and record it.

    In no fixed order: a slow n8n would else hide the same workflows from every look.
    """
    began, started = looks.began_at(NAME), time.monotonic()
    known = tuple(instances.known().values())
    reasons: dict[str, str] = {}
    same: dict[str, bool] = {}
    unasked = sorted(_deployed(), key=lambda _: random.random())  # noqa: S311 - guards nothing
    missing: list[str] = []
    while unasked and time.monotonic() - started <= TICK_SECONDS:
        lock.keep()
        workflow = unasked.pop()
        running = _running(str(workflow.n8n_workflow_id), known, reasons)
        if running is None:
            missing.append(workflow.name)
        else:
            same[workflow.name] = running == workflow.export_sha256
    changed = {name for name, is_same in same.items() if not is_same}
    # What could not be asked is as it was.
    changed |= told([each.name for each in unasked] + (missing if reasons else []))
    report = DriftReport(len(same), tuple(sorted(changed)), len(missing), len(unasked), reasons)
    alerts = [{"dedupe_key": key, "severity": "warn"} for key in sorted(map(_key, changed))]
    looks.record(NAME, report, began=began, matched=report.compared, alerts=alerts)
    return report


def _deployed() -> Iterable[Workflow]:
    """Return the workflows whose export is known."""
    found = Workflow.objects.filter(enabled=True, n8n_workflow_id__isnull=False)
    wanted = found.filter(export_sha256__isnull=False).order_by("name")
    return wanted.only("name", "n8n_workflow_id", "export_sha256")[:MOST]


def _running(workflow_id: str, known: Iterable[Instance], reasons: dict[str, str]) -> str | None:
    """Return the hash of what runs under an id, None where nothing does or nobody can tell."""
    for instance in known:
        if instance.name in reasons:
            continue  # it does not answer; the others get their turn
        try:
            found = Api(instance).call("GET", f"workflows/{workflow_id}")
            return _fingerprint(found)
        except ApiError as error:
            if error.status != GONE:
                reasons[instance.name] = str(error)
        except (ProviderError, LookupInconclusiveError) as error:
            reasons[instance.name] = f"n8n did not answer: {error}"
    return None


def _fingerprint(found: dict[str, Any]) -> str | None:
    """Hash the published version; a draft that somebody works on runs nowhere."""
    if not found.get("active"):
        return None
    published = found.get("activeVersion")
    runs = published if isinstance(published, dict) and "nodes" in published else found
    return fingerprint({**runs, "settings": found.get("settings")})


def told(names: Iterable[str]) -> set[str]:
    """Return those of these workflows that an alert says were changed."""
    keys = {_key(name): name for name in names}
    living = Alert.objects.filter(check_name=NAME, dedupe_key__in=keys).exclude(state="resolved")
    return {keys[key] for key in living.values_list("dedupe_key", flat=True)}


def _key(name: str) -> str:
    return f"changed:{name[:LONGEST_NAME]}"
