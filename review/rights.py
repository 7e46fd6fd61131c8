"""The rights of the console, and the four roles that bundle them. Pure.

Which right a verb needs is in verbs.py; roles.py makes the groups.

``view_payload`` covers every stored content: payloads, events, results, and the values on the sides
of a compare. A field's value is the customer's data just as the payload is that carried it, so who
may not see the one is not shown the other. What a viewer keeps is what they need to tell items
apart and to ask for more: which fields differ and how, sizes, hashes, keys, names and times.
"""

from collections.abc import Mapping
from typing import Final

from review.language import later

VIEW: Final = "review.view"
VIEW_PAYLOAD: Final = "review.view_payload"
COMMENT: Final = "review.comment"
CLAIM: Final = "review.claim"
RESOLVE: Final = "review.resolve"
RESEND: Final = "review.resend"
ABANDON: Final = "review.abandon"
LOOK_AGAIN: Final = "review.look_again"
BULK: Final = "review.bulk"
SHARE_VIEW: Final = "review.share_view"
APPROVE: Final = "review.approve"
EDIT_PAYLOAD: Final = "review.edit_payload"
ADMINISTER: Final = "review.administer"

_VIEWER: Final = frozenset({VIEW})
_OPERATOR: Final = _VIEWER | {
    VIEW_PAYLOAD,
    COMMENT,
    CLAIM,
    RESOLVE,
    RESEND,
    ABANDON,
    LOOK_AGAIN,
    BULK,
}
_APPROVER: Final = _OPERATOR | {APPROVE, SHARE_VIEW}
# People and their roles are Django's own tables, with Django's own rights.
_PEOPLE: Final = frozenset(
    {"auth.view_user", "auth.add_user", "auth.change_user", "auth.view_group"}
)
_ADMINISTRATOR: Final = _APPROVER | _PEOPLE | {EDIT_PAYLOAD, ADMINISTER}

ROLES: Mapping[str, frozenset[str]] = {
    "viewer": _VIEWER,
    "operator": _OPERATOR,
    "approver": _APPROVER,
    "administrator": _ADMINISTRATOR,
}

# What a role is for, as somebody without one is told.
ROLE_WORDS: Mapping[str, str] = {
    "viewer": later("looks"),
    "operator": later("decides"),
    "approver": later("also confirms what others proposed"),
    "administrator": later("also gives roles"),
}

# Where roles are given: the page of the header that an administrator sees.
WHERE_ROLES: Final = later("roles are given under People")

# What to tell somebody who lacks a right.
RIGHT_WORDS: Mapping[str, str] = {
    VIEW: later("see the console"),
    VIEW_PAYLOAD: later("see payload values"),
    COMMENT: later("comment on items"),
    CLAIM: later("claim items and put them off"),
    RESOLVE: later("resolve items"),
    RESEND: later("resend items"),
    ABANDON: later("abandon items"),
    LOOK_AGAIN: later("ask providers again"),
    BULK: later("decide many items at once"),
    SHARE_VIEW: later("share a view of the queue with everybody"),
    APPROVE: later("approve what another person proposed"),
    EDIT_PAYLOAD: later("change a payload before it is resent"),
    ADMINISTER: later(
        "change policies, providers and retention, run a tick, or reset a second factor"
    ),
}

# The same of people's own tables; the page of one's own rights lists both.
PEOPLE_WORDS: Mapping[str, str] = {
    "auth.view_user": later("see People"),
    "auth.add_user": later("make an account"),
    "auth.change_user": later("give and take roles, close accounts, set passwords"),
    "auth.view_group": later("see the roles"),
}


def holders(right: str) -> list[str]:
    """Name the roles that have a right, from the smallest on."""
    return [name for name, rights in ROLES.items() if right in rights]
