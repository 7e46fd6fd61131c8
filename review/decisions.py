"""What a way out of an item is made of: the shapes verbs.py and sources.py fill. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from review.rights import ABANDON, ADMINISTER, APPROVE, LOOK_AGAIN, RESEND, RESOLVE, VIEW

# What the form must hold for a decision, beside the lock_version it always carries.
REASON: Final = "reason"
STATEMENT: Final = "statement"  # what a person knows and how: taken from the reason field
REFERENCE: Final = "provider_ref"
RISK: Final = "risk_acknowledged"
EVENT: Final = "event"
EXECUTION: Final = "external_execution_id"  # with the instance, where there are several
INSTANCE: Final = "instance"


@dataclass(frozen=True, slots=True)
class Decision:
    """One way out: its button, the sentence beside it, and what it needs.

    `blast` is a sentence with places in braces; see items for the words that fill them.
    """

    verb: str
    decision: str
    label: str
    blast: str
    tone: str = "plain"
    key: str = ""
    needs: tuple[str, ...] = (REASON,)

    @property
    def permission(self) -> str:
        """The right the verb needs."""
        return VERB_RIGHTS[self.verb]

    @property
    def only_asks(self) -> bool:
        """Whether it asks somebody outside, and decides nothing itself."""
        return self.verb == "look-again"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of item: how it is named, shown and ended."""

    label: str
    icon: str
    tone: str
    decisions: tuple[Decision, ...] = ()


VERB_RIGHTS: Mapping[str, str] = {
    "resolve": RESOLVE,
    "resend": RESEND,
    "abandon": ABANDON,
    "look-again": LOOK_AGAIN,
    "approve": APPROVE,
    "reject": APPROVE,
    "take-back": RESOLVE,
    "withdraw": RESEND,
    "administer": ADMINISTER,
    "verify": VIEW,
}

# Verbs after which something may reach the outside, so that a policy may ask for a second factor.
# Approving carries out what may be a resend; landed, not landed and abandon only write down what a
# person knows, and to withdraw or to look again sends nothing.
SENDING_VERBS: Final = frozenset({"resend", "approve"})
