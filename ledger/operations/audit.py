"""The audit: sealing it and proving it whole. Reading rows is the ORM's."""

from dataclasses import dataclass

from ledger.operations._call import call, call_many
from ledger.operations.base import Answer, Detail


@dataclass(frozen=True, slots=True)
class Sealed(Answer):
    """How many rows the new seal covers."""

    n: int | None
    seal_id: int | None
    detail: Detail


def seal_audit(*, actor: str) -> Sealed:
    """Put a root hash over all audit rows written since the last seal."""
    return call("seal_audit", {"actor": actor}, Sealed)


@dataclass(frozen=True, slots=True)
class AuditProblem(Answer):
    """One broken row or seal; ``empty`` when everything is as it was written."""

    problem: str | None
    event_id: int | None
    seal_id: int | None
    detail: Detail


def verify_audit(*, actor: str, newest: int | None = None) -> list[AuditProblem]:
    """Every audit row and every seal, recomputed; one row per broken one, or empty."""
    return call_many("verify_audit", {"actor": actor, "newest": newest}, AuditProblem)
