"""What a case is, and the world it is arranged in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tests.support import desk
from tests.support.doors import Door
from tests.support.factories import SHOP, Shop

PERSON, SECOND = "anna", "berta"
REASON = {"actor": PERSON, "reason": "looked at it"}


class World:
    """The shop, the customers' table, and a door that never loses anything."""

    def __init__(self, door: Door, owner: psycopg.Connection) -> None:
        """Open the shop; the table is made only where a case asks for it."""
        self.shop, self.owner = Shop(door, owner), owner

    def run(self, operation: str, **argument: Any) -> Any:
        """Run an operation as part of an arrangement."""
        return self.shop.run(operation, **argument)

    def customers(self) -> None:
        """Make the table that two workflows fight over."""
        desk.open_shop(self.owner)

    def sql(self, statement: str, *values: Any) -> None:
        """Pass time, or break something, by hand."""
        self.owner.execute(statement, values)

    def only(self, table: str) -> dict[str, Any]:
        """Return the one row of a table."""
        (row,) = self.shop.rows(table)
        return row


Arrange = Callable[[World], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """One lost answer.

    ``lost`` is the outcome that was recorded, ``repeat`` the one its repeat hears. ``changes`` and
    ``repeat_changes`` count the audit rows that tell of a change. ``moves`` names columns the
    repeat may touch, ``grows`` tables it may add a row to: everything else must stand as it stood.
    """

    operation: str
    arrange: Arrange
    repeat: str
    lost: str = "won"
    changes: int = 1
    repeat_changes: int = 0
    moves: frozenset[str] = frozenset()
    grows: frozenset[str] = frozenset()
    says: dict[str, Any] = field(default_factory=dict)
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name it for a report."""
        told = self.arrange.__name__.strip("_")
        return self.operation if told == self.operation else f"{self.operation}-{told}"


CASES: list[Case] = []


def case(operation: str, repeat: str, **more: Any) -> Callable[[Arrange], Arrange]:
    """Register what an operation must answer when it is repeated after its answer was lost."""
    for name in ("moves", "grows"):
        more[name] = frozenset(more.get(name, ()))

    def register(arrange: Arrange) -> Arrange:
        CASES.append(Case(operation, arrange, repeat, **more))
        return arrange

    return register


def workflow(**argument: Any) -> dict[str, Any]:
    """Name the shop's workflow as the caller."""
    return {"workflow": SHOP, **argument}
