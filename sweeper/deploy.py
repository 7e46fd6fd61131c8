"""A deploy derived from an export: what the lint finds with the registry beside it, and one act.

The fields a workflow may write are read from its export, never from a list that somebody keeps.
Whatever cannot be read is a finding, and a deploy with findings is not applied. Files and the
command line are for the command.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Max

from ledger.models import FieldOwnership, Provider, Workflow
from ledger.models import Target as Registered
from ledger.operations.registrations import Deployed, apply_deploy
from sweeper.errors import SweeperError
from sweeper.n8n.lint import fields as written
from sweeper.n8n.lint.findings import Finding
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.known import LEASE_SECONDS, Known, Target
from sweeper.n8n.lint.run import Read, lint

type Field = tuple[str, str]

# The finding that the registry makes, and the ledger again.
FOREIGN = "LW502"
# What a deploy sets besides, and what stays as it is where the export says nothing of it.
_KEPT = ("n8n_workflow_id", "db_role", "decision_webhook", "editor_url", "max_runtime_seconds")


class DeployError(SweeperError):
    """A deploy that cannot even be checked: which workflow is meant is not clear."""


@dataclass(frozen=True)
class Plan:
    """One workflow as it would be registered."""

    workflow: str
    fields: tuple[Field, ...]
    guarded: bool
    sends: tuple[str, ...]
    n8n_id: str | None
    sha256: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Checked:
    """What a check found, and what a deploy would write."""

    files: tuple[Read, ...]
    plans: tuple[Plan, ...]
    findings: tuple[Finding, ...]


def check(texts: Mapping[str, str], shares: Iterable[Field], name: str | None = None) -> Checked:
    """Judge exports by every rule, with the registry beside them, and derive their deploys."""
    known = registry(frozenset(shares), name)
    files = lint(texts, known)
    flows = [(file, Flow(flow, known)) for file in files for flow in file.workflows]
    if name and len(flows) > 1:
        raise DeployError("One name fits one workflow; these exports hold several.")
    plans = tuple(_plan(file, flow) for file, flow in flows)
    names = [plan.workflow for plan in plans]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice:
        raise DeployError(f"Two of these workflows are registered as {twice}.")
    findings = tuple(each for file in files for each in file.findings)
    return Checked(tuple(files), plans, findings)


def registry(shares: frozenset[Field], name: str | None) -> Known:
    """Read what rules may know: targets, the owners of fields, the longest lease granted."""
    owners: dict[Field, set[str]] = {}
    for row in FieldOwnership.objects.all():
        place = (row.target, row.field)
        if row.exclusive or place not in shares:
            owners.setdefault(place, set()).add(row.workflow)
    targets = tuple(
        Target(row.name, row.table or row.name, row.external, row.pk_column, row.revision_column)
        for row in Registered.objects.all()
    )
    longest = Provider.objects.aggregate(longest=Max("lease_seconds"))["longest"]
    return Known(
        targets=targets,
        owners={place: frozenset(names) for place, names in owners.items()},
        called=name,
        longest_lease=longest or LEASE_SECONDS,
    )


def _plan(file: Read, flow: Flow) -> Plan:
    if flow.known.called is None and len(flow.names) > 1:
        several = ", ".join(sorted(flow.names))
        raise DeployError(f"The calls of {flow.workflow.name} name several workflows: {several}.")
    others = sorted(flow.names - {flow.called})
    if others:
        raise DeployError(
            f"{flow.workflow.name} would be registered as {flow.called}, but its calls say"
            f" {others[0]}."
        )
    return Plan(
        workflow=flow.called,
        fields=tuple(sorted(_fields(flow))),
        guarded=flow.all_guarded,
        sends=tuple(node.name for node in flow.sends),
        n8n_id=flow.workflow.id,
        sha256=flow.workflow.fingerprint,
        findings=tuple(f for f in file.findings if f.workflow in (flow.workflow.name, "")),
    )


def _fields(flow: Flow) -> set[Field]:
    """Return the fields of registered targets that a workflow writes."""
    found: set[Field] = set()
    for write in written.writes(flow):
        target = flow.known.target(write.store) if write.store else None
        if target is not None and write.field and write.field != target.key:
            found.add((target.name, write.field))
    return found


@dataclass(frozen=True)
class Act:
    """What a person says of a deploy beside the export."""

    version: str
    anchor: dict[str, Any]
    actor: str
    reason: str
    shares: frozenset[Field] = frozenset()
    key_fields: list[str] | None = None
    n8n_workflow_id: str | None = None
    editor_url: str | None = None


def is_foreign(plan: Plan) -> bool:
    """Say whether all that stands against a plan is that a field belongs to somebody else.

    Then the ledger refuses it just as well, and keeps that it was tried.
    """
    found = {each.code for each in plan.findings if each.suppressed is None}
    return found == {FOREIGN}


def apply(plan: Plan, act: Act) -> Deployed:
    """Register a plan in one act: the version, its fields, what was checked and its anchor."""
    shared = act.shares | _shared_before(plan.workflow)
    before = Workflow.objects.filter(name=plan.workflow).values(*_KEPT).first() or {}
    kept = {
        **before,
        "n8n_workflow_id": act.n8n_workflow_id or before.get("n8n_workflow_id") or plan.n8n_id,
        "editor_url": act.editor_url or before.get("editor_url"),
    }
    return apply_deploy(
        actor=act.actor,
        reason=act.reason,
        workflow=plan.workflow,
        workflow_version=act.version,
        fields=[
            {"target": target, "field": name, "exclusive": (target, name) not in shared}
            for target, name in plan.fields
        ],
        key_fields=act.key_fields,
        sends_dominated=plan.guarded,
        export_sha256=plan.sha256,
        anchor=act.anchor,
        check_report=report(plan),
        **kept,
    )


def _shared_before(workflow: str) -> frozenset[Field]:
    rows = FieldOwnership.objects.filter(workflow=workflow, exclusive=False)
    return frozenset(rows.values_list("target", "field"))


def report(plan: Plan) -> dict[str, Any]:
    """Return what is kept of a check: what was seen, and what was allowed in spite of a rule."""
    allowed = [
        {"code": each.code, "node": each.node, "reason": each.suppressed}
        for each in plan.findings
        if each.suppressed
    ]
    return {
        "fields": [f"{target}.{name}" for target, name in plan.fields],
        "sends": list(plan.sends)[:100],
        "sends_guarded": plan.guarded,
        "allowed": allowed[:100],
        "findings": sum(each.suppressed is None for each in plan.findings),
    }
