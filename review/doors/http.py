"""The console's verbs as routes of the HTTP door: the address of the button below /api/v1."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User

from ledger.api.auth import missing_factor, missing_right
from ledger.api.body import Body
from ledger.api.people import PersonVerb
from ledger.api.problems import ProblemError
from ledger.catalog import GOOD, Operation
from review.actions.gate import NotAllowed
from review.doors.gate import admit, form_of
from review.doors.shapes import Asked, UnknownError, Verb
from review.doors.table import verbs
from review.errors import IncompleteError

_ACCEPT = GOOD | {"needs_second_person"}


def routes() -> Iterator[PersonVerb]:
    """Return one route for each verb."""
    # An address that ends in a place would take the longer ones too, so it comes last.
    for verb in sorted(verbs().values(), key=lambda each: each.path.endswith("}")):
        operation = Operation(verb.name, (verb.method, verb.path), right=verb.right, accept=_ACCEPT)
        yield PersonVerb(operation, verb.says, verb.takes, _runner(verb, operation))


def _runner(
    verb: Verb, operation: Operation
) -> Callable[[User, Mapping[str, str], Body], Mapping[str, Any]]:
    def run(user: User, path: Mapping[str, str], given: Body) -> Mapping[str, Any]:
        try:
            admit(user, verb)
            texts = {name: given.text_of(name) or "" for name in given.members}
            form = form_of(verb, given.members, texts)
            return verb.run(Asked(user, path, form)).row
        except NotAllowed as refusal:
            name = user.get_username()
            if refusal.event == "second_factor_missing":
                raise missing_factor(name, refusal.right, operation) from refusal
            raise missing_right(name, refusal.right, operation, str(refusal)) from refusal
        except UnknownError as error:
            raise ProblemError(404, "unknown_item", str(error)) from error
        except IncompleteError as error:
            path_, hint = next(iter(error.problems.items()))
            raise ProblemError(422, "invalid", hint, path_) from error

    return run
