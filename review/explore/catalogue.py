"""Which lists there are, by the word in their address, and what each is called."""

from collections.abc import Mapping
from typing import Final

from review.explore.batches import BATCHES
from review.explore.dead_letters import DEAD_LETTERS
from review.explore.jobs import JOBS
from review.explore.keys import KEYS
from review.explore.policies import POLICIES
from review.explore.providers import PROVIDERS
from review.explore.runs import RUNS
from review.explore.shapes import Listing
from review.language import later

LISTS: Final[Mapping[str, Listing]] = {
    "jobs": JOBS,
    "dead-letters": DEAD_LETTERS,
    "runs": RUNS,
    "batches": BATCHES,
    "keys": KEYS,
    "providers": PROVIDERS,
    "policies": POLICIES,
}
# Pages in the same frame whose rows come otherwise.
TITLES: Final[Mapping[str, str]] = {
    **{noun: each.title for noun, each in LISTS.items()},
    "today": later("Today"),
    "workflows": later("Workflows & fields"),
    "sweeps": later("Sweeps & locks"),
    "audit": later("Audit"),
}
# The list that leads to a page of the set-up.
HOMES: Final[Mapping[str, str]] = {
    "policy": "policies",
    "provider": "providers",
    "retention": "providers",
    "field": "workflows",
    "workflow": "workflows",
    "tick": "sweeps",
    "seals": "audit",
}
