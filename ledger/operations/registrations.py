"""Registrations: what is known of providers, effects, keys, targets and workflows.

``CLEAR`` empties a member of what is saved; None leaves it as it is.
"""

from dataclasses import dataclass
from typing import Any

from ledger.operations._call import call
from ledger.operations.base import Answer, Detail


@dataclass(frozen=True, slots=True)
class Saved(Answer):
    """The version of the row after the change."""

    version: int | None
    detail: Detail


@dataclass(frozen=True, slots=True)
class Deployed(Answer):
    """The workflow version that counts from now on."""

    version: str | None
    detail: Detail


def save_provider(
    *,
    actor: str,
    name: str,
    class_: str,
    reason: str,
    version: int | None = None,
    lookup_adapter: str | None = None,
    lookup_config: dict[str, Any] | None = None,
    lease_seconds: int | None = None,
    heartbeat_seconds: int | None = None,
    settle_seconds: int | None = None,
    unmarked_action: str | None = None,
    max_attempts: int | None = None,
    max_lookup_errors: int | None = None,
    key_ttl_seconds: int | None = None,
    key_unlimited: bool | None = None,
    caches_errors: bool | None = None,
    mismatch: str | None = None,
    lookup_by_reference: bool | None = None,
    profile: dict[str, Any] | None = None,
    retry_horizon_seconds: int | None = None,
    replay_horizon_seconds: int | None = None,
    retention_margin_seconds: int | None = None,
) -> Saved:
    """Register a provider, or change what is known of how it treats a repeat."""
    argument = {
        "actor": actor,
        "name": name,
        "class": class_,
        "reason": reason,
        "version": version,
        "lookup_adapter": lookup_adapter,
        "lookup_config": lookup_config,
        "lease_seconds": lease_seconds,
        "heartbeat_seconds": heartbeat_seconds,
        "settle_seconds": settle_seconds,
        "unmarked_action": unmarked_action,
        "max_attempts": max_attempts,
        "max_lookup_errors": max_lookup_errors,
        "key_ttl_seconds": key_ttl_seconds,
        "key_unlimited": key_unlimited,
        "caches_errors": caches_errors,
        "mismatch": mismatch,
        "lookup_by_reference": lookup_by_reference,
        "profile": profile,
        "retry_horizon_seconds": retry_horizon_seconds,
        "replay_horizon_seconds": replay_horizon_seconds,
        "retention_margin_seconds": retention_margin_seconds,
    }
    return call("save_provider", argument, Saved)


def save_effect(
    *,
    actor: str,
    name: str,
    workflow: str,
    provider: str,
    reason: str,
    kind: str | None = None,
    version: int | None = None,
    current_version: int | None = None,
    key_spec_version: int | None = None,
    wake_url: str | None = None,
    amount_path: str | None = None,
    title: str | None = None,
    delivery: str | None = None,
) -> Saved:
    """Register an effect: whose it is, where it is sent, and who works it."""
    argument = {
        "actor": actor,
        "name": name,
        "workflow": workflow,
        "provider": provider,
        "reason": reason,
        "kind": kind,
        "version": version,
        "current_version": current_version,
        "key_spec_version": key_spec_version,
        "wake_url": wake_url,
        "amount_path": amount_path,
        "title": title,
        "delivery": delivery,
    }
    return call("save_effect", argument, Saved)


def add_key_spec(
    *,
    actor: str,
    effect: str,
    fields: list[str],
    reason: str,
    canon: list[str] | None = None,
    mode: str | None = None,
) -> Saved:
    """A new version of how an effect's key is derived; old versions stay for look-ups."""
    argument = {
        "actor": actor,
        "effect": effect,
        "fields": fields,
        "reason": reason,
        "canon": canon,
        "mode": mode,
    }
    return call("add_key_spec", argument, Saved)


def save_target(
    *,
    actor: str,
    name: str,
    reason: str,
    table: str | None = None,
    pk_column: str | None = None,
    revision_column: str | None = None,
    status_column: str | None = None,
    external: bool | None = None,
    client_of: str | None = None,
    client_id: str | None = None,
) -> Saved:
    """Register a versioned table, or a store outside this database."""
    argument = {
        "actor": actor,
        "name": name,
        "reason": reason,
        "table": table,
        "pk_column": pk_column,
        "revision_column": revision_column,
        "status_column": status_column,
        "external": external,
        "client_of": client_of,
        "client_id": client_id,
    }
    return call("save_target", argument, Saved)


@dataclass(frozen=True, slots=True)
class SavedRule(Answer):
    """The function that runs the rule, or none where it ended."""

    fn: str | None
    detail: Detail


def save_rule(
    *,
    actor: str,
    target: str,
    name: str,
    reason: str,
    fields: list[str] | None = None,
    reads: list[str] | None = None,
    source: str | None = None,
    remove: bool | None = None,
) -> SavedRule:
    """Register the rule whose function the owner installed, or end one."""
    argument = {
        "actor": actor,
        "target": target,
        "name": name,
        "reason": reason,
        "fields": fields,
        "reads": reads,
        "source": source,
        "remove": remove,
    }
    return call("save_rule", argument, SavedRule)


def apply_deploy(
    *,
    actor: str,
    workflow: str,
    workflow_version: str,
    fields: list[dict[str, Any]],
    reason: str,
    key_fields: list[str] | None = None,
    n8n_workflow_id: str | None = None,
    db_role: str | None = None,
    decision_webhook: str | None = None,
    editor_url: str | None = None,
    sends_dominated: bool | None = None,
    max_runtime_seconds: int | None = None,
    export_sha256: str | None = None,
    check_report: dict[str, Any] | None = None,
    anchor: dict[str, Any] | None = None,
) -> Deployed:
    """Register a workflow version together with the fields it may write: one act."""
    argument = {
        "actor": actor,
        "workflow": workflow,
        "workflow_version": workflow_version,
        "fields": fields,
        "reason": reason,
        "key_fields": key_fields,
        "n8n_workflow_id": n8n_workflow_id,
        "db_role": db_role,
        "decision_webhook": decision_webhook,
        "editor_url": editor_url,
        "sends_dominated": sends_dominated,
        "max_runtime_seconds": max_runtime_seconds,
        "export_sha256": export_sha256,
        "check_report": check_report,
        "anchor": anchor,
    }
    return call("apply_deploy", argument, Deployed)


@dataclass(frozen=True, slots=True)
class MarkedField(Answer):
    """How many owners of the field it was changed for."""

    n: int | None
    detail: Detail


def mark_field_sensitive(
    *,
    actor: str,
    target: str,
    field: str,
    sensitive: bool,
    reason: str,
) -> MarkedField:
    """A field is (or is no longer) never merged or retried without a person."""
    argument = {
        "actor": actor,
        "target": target,
        "field": field,
        "sensitive": sensitive,
        "reason": reason,
    }
    return call("mark_field_sensitive", argument, MarkedField)
