"""What a person can do to an item: one file per verb, each calls exactly one guarded operation.

An action reads the form, asks for what is missing, calls the operation and returns its answer. It
never decides what is allowed: the ledger does. Rights are checked by the caller through
verbs.VERB_RIGHTS; pages are the caller's too.
"""

from collections.abc import Callable, Mapping

from ledger.models import Conflict
from review.actions import abandon, approve, look_again, resend, resolve, withdraw
from review.actions.base import Attempt

type Action = Callable[[Conflict, str, Mapping[str, str]], Attempt]

ACTIONS: Mapping[str, Action] = {
    "resolve": resolve.run,
    "resend": resend.run,
    "abandon": abandon.run,
    "look-again": look_again.run,
    "approve": approve.run,
    "reject": approve.reject,
    "take-back": approve.take_back,
    "withdraw": withdraw.run,
}
