"""What rules may know beside the export: the registry of this installation, and the other files."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sweeper.n8n.lint.model import Workflow

# The lease that is granted where nothing else is said (policy lease_seconds as shipped).
LEASE_SECONDS = 600


@dataclass(frozen=True)
class Target:
    """A registered table, or a store outside, whose fields have owners."""

    name: str
    table: str
    external: bool = False
    key: str = "id"
    revision: str = "revision"

    def called(self) -> tuple[str, str, str]:
        """Return what a node may call it: its name, its table, the table without its schema."""
        table = self.table.replace('"', "").lower()
        return self.name.lower(), table, table.rsplit(".", 1)[-1]


@dataclass(frozen=True)
class Known:
    """The registry as far as rules read it; empty where a file is read with nothing beside it.

    ``owners`` says, by (target, field), which workflows write that field and do not share it;
    ``called`` is the name the workflow at hand is registered under, where that was said.
    """

    targets: tuple[Target, ...] = ()
    owners: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    called: str | None = None
    longest_lease: int = LEASE_SECONDS
    siblings: tuple[Workflow, ...] = ()

    def target(self, store: str) -> Target | None:
        """Return the target of this name or this table."""
        wanted = store.lower()
        return next((target for target in self.targets if wanted in target.called()), None)
