"""Lost answers at closed doors."""

from typing import Any
from uuid import UUID

from tests.support.lost.cases import PERSON, World, case

ATTEMPT = {"actor": PERSON, "attempt_id": UUID(int=5)}


@case("record_access", "replay", detail={"why": "recorded_before"})
def record_access(_world: World) -> dict[str, Any]:
    """What happened once is told once."""
    return ATTEMPT | {"event": "second_factor_added"}


@case("record_access", "replay", lost="wrong_role", changes=0, detail={"why": "recorded_before"})
def record_access_refused(_world: World) -> dict[str, Any]:
    """A refusal changed nothing, and is one row."""
    return ATTEMPT | {"event": "right_missing", "right": "review.resend"}
