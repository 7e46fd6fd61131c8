"""The fields of the targets, who may write them, and where writers met: a matrix by target."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from django.db.models.fields.json import KT

from ledger.metrics import Collision, collisions, hot_records
from ledger.models import (
    AllowedTransition,
    AuditEvent,
    FieldOwnership,
    Rule,
    Target,
    Workflow,
)
from review.items.addresses import item_url, list_url
from review.language import _
from review.text import actor, listed, shown
from sweeper import drift

# What one page shows of it: more is named in numbers, and found by its target.
_TARGETS = 20
_OWNERSHIPS = 4_000
_FIELDS = 200
_COLUMNS = 12
_WORKFLOWS = 200
_MOVES = 500
_DEPLOYS = 20


@dataclass(frozen=True, slots=True)
class Cell:
    """What a workflow may do with a field, and how often it lost there."""

    may: bool = False
    losses: int = 0
    # From 0, nothing, to 4, as often as the hottest.
    heat: int = 0


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field and what each workflow has to do with it."""

    name: str
    url: str
    sensitive: bool
    exclusive: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """One target: its fields by workflow, its rules and its allowed moves."""

    target: str
    where: str
    workflows: tuple[tuple[str, str], ...]
    rows: tuple[FieldRow, ...]
    more: str = ""
    rules: tuple[tuple[str, str], ...] = ()
    moves: str = ""


@dataclass(frozen=True, slots=True)
class Deployed:
    """One workflow and the version that counts."""

    name: str
    url: str
    version: str
    export: str
    enabled: bool
    # n8n runs something else than was deployed.
    drifted: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Deploy:
    """One deploy that was tried: of which workflow, by whom, and what came of it."""

    name: str
    url: str
    by: str
    reason: str
    refused: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Hot:
    """One record that was fought over, and by whom."""

    name: str
    url: str
    losses: int
    open: int
    between: str
    last_at: datetime


def matrices(only: str = "") -> list[Matrix]:
    """Return the matrix of every target, or of one; a fixed number of queries."""
    targets = Target.objects.order_by("name")
    if only:
        targets = targets.filter(pk=only)
    chosen = list(targets[:_TARGETS])
    names = [target.name for target in chosen]
    owned = FieldOwnership.objects.filter(target__in=names).order_by("target", "field", "workflow")
    owners: dict[str, list[FieldOwnership]] = defaultdict(list)
    for row in owned[:_OWNERSHIPS]:
        owners[row.target].append(row)
    lost: dict[str, list[Collision]] = defaultdict(list)
    for each in collisions():
        lost[each.target].append(each)
    hottest = max((each.losses for found in lost.values() for each in found), default=0)
    rules, moves = _rules(names), _moves(chosen)
    return [
        replace(
            _matrix(target, owners[target.name], lost[target.name], hottest),
            rules=rules.get(target.name, ()),
            moves=moves.get(target.name, ""),
        )
        for target in chosen
    ]


def _matrix(
    target: Target, owners: list[FieldOwnership], lost: list[Collision], hottest: int
) -> Matrix:
    losses = {(each.field, each.workflow): each.losses for each in lost}
    may = {(each.field, each.workflow): each for each in owners}
    workflows = sorted({each.workflow for each in owners} | {each.workflow for each in lost})
    fields = sorted({each.field for each in owners} | {each.field for each in lost})
    shown_workflows, shown_fields = workflows[:_COLUMNS], fields[:_FIELDS]
    left = len(workflows) - len(shown_workflows), len(fields) - len(shown_fields)
    rows = []
    for field in shown_fields:
        own = [each for each in owners if each.field == field]
        cells = tuple(
            Cell(
                (field, workflow) in may,
                losses.get((field, workflow), 0),
                _heat(losses.get((field, workflow), 0), hottest),
            )
            for workflow in shown_workflows
        )
        rows.append(
            FieldRow(
                shown(field, 80),
                item_url("field", f"{target.name}/{field}") if own else "",
                any(each.sensitive for each in own),
                any(each.exclusive for each in own),
                cells,
            )
        )
    more = _("{workflows} more workflows and {fields} more fields are not shown.")
    where = _("outside this database") if target.external else shown(target.table, 80)
    return Matrix(
        shown(target.name, 80),
        where,
        tuple((actor(name, 60), item_url("workflow", name)) for name in shown_workflows),
        tuple(rows),
        more.format(workflows=left[0], fields=left[1]) if any(left) else "",
    )


def _heat(losses: int, hottest: int) -> int:
    return 0 if not losses else 1 + (3 * losses) // hottest


def _rules(targets: Iterable[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    rows = Rule.objects.filter(target__in=targets).defer("source").order_by("target", "name")
    for rule in rows[:_MOVES]:
        reads = listed([shown(name, 60) for name in rule.reads], most=6) or _("nothing else")
        fields = listed([shown(name, 40) for name in rule.fields], most=6) or _("any field")
        words = _("runs for {fields}; reads {reads}").format(fields=fields, reads=reads)
        found[rule.target].append((shown(rule.name, 80), words))
    return {target: tuple(rules) for target, rules in found.items()}


def _moves(targets: Iterable[Target]) -> dict[str, str]:
    machines = {
        f"{target.name}.{target.status_column}": target.name
        for target in targets
        if target.status_column
    }
    rows = AllowedTransition.objects.filter(machine__in=machines).order_by(
        "machine", "from_state", "to_state"
    )
    found: dict[str, list[str]] = defaultdict(list)
    for move in rows[:_MOVES]:
        words = f"{shown(move.from_state, 40)} → {shown(move.to_state, 40)}"
        found[machines[move.machine]].append(words)
    return {target: listed(words, most=20) for target, words in found.items()}


def deployed() -> list[Deployed]:
    """Return the workflows with the version that counts."""
    rows = list(Workflow.objects.exclude(name__startswith="(").order_by("name")[:_WORKFLOWS])
    drifted = drift.told(row.name for row in rows)
    return [
        Deployed(
            shown(row.name, 80),
            item_url("workflow", row.name),
            shown(row.active_version, 40),
            shown(row.export_sha256, 13) or _("none kept"),
            row.enabled,
            row.name in drifted,
            row.exported_at or row.created_at,
        )
        for row in rows
    ]


def deploys() -> list[Deploy]:
    """Return the newest deploys, those that were refused too, with why."""
    rows = (
        AuditEvent.objects.filter(workflow=None, op="apply_deploy")
        .filter(outcome__in=("won", "rule_failed"))
        .annotate(
            of_field=KT("after__field"), of_target=KT("after__target"), hint=KT("after__hint")
        )
        .order_by("-at", "-id")
        .values_list("key", "actor", "reason", "outcome", "of_field", "of_target", "hint", "at")
    )
    return [
        Deploy(
            shown(key.removeprefix("workflow:"), 80),
            item_url("workflow", key.removeprefix("workflow:")) if outcome == "won" else "",
            actor(by, 60),
            shown(reason, 160),
            _refusal(field or target, hint) if outcome == "rule_failed" else "",
            at,
        )
        for key, by, reason, outcome, field, target, hint, at in rows[:_DEPLOYS]
    ]


def _refusal(about: str | None, hint: str | None) -> str:
    """Say why a deploy was refused, with what it was about."""
    return ": ".join(shown(part, 300) for part in (about, hint) if part) or _("refused")


def hot() -> list[Hot]:
    """Return the records that were fought over most, of the newest losses."""
    return [
        Hot(
            f"{shown(each.target, 60)}/{shown(each.record_key, 80)}",
            list_url(
                "audit",
                "?" + urlencode({"by": "record", "q": f"{each.target}/{each.record_key}"}),
            ),
            each.losses,
            each.open,
            listed([actor(name, 60) for name in each.workflows], most=5),
            each.last_at,
        )
        for each in hot_records()
    ]
