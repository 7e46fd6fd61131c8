"""What the operations share: who calls, and the shape of every answer."""

from dataclasses import dataclass
from typing import Any

from ledger.operations._json import NULL

Detail = dict[str, Any] | None
CLEAR: Any = NULL
"""The value of a member that is to be emptied; a member that is None is left as it is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of an operation. ``outcome`` is one word of the ledger's closed list."""

    outcome: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The workflow execution on whose behalf an operation is called."""

    workflow: str
    workflow_version: str | None = None
    execution_id: str | None = None
    instance: str | None = None
    worker: str | None = None

    def argument(self, **members: Any) -> dict[str, Any]:
        """Return the argument object of one call; what is None is left out on the way."""
        return {
            "workflow": self.workflow,
            "workflow_version": self.workflow_version,
            "execution_id": self.execution_id,
            "instance": self.instance,
            "worker": self.worker,
            **members,
        }
