"""Look again: ask the provider now. Adds evidence; never moves a job."""

from collections.abc import Mapping

from ledger.models import Conflict
from review.actions.base import Attempt, answered
from sweeper.look_again import look_again_now


def run(conflict: Conflict, actor: str, form: Mapping[str, str]) -> Attempt:
    """Ask once, within the driver's own time limit."""
    if not conflict.job_id:
        return Attempt("look_again", "lost_claim")
    return answered("look_again", look_again_now(conflict.job_id, actor))
