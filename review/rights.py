"""The rights of the console, and the four roles that bundle them. Pure.

Which right a verb needs is in verbs.py; roles.py makes the groups.
"""

from collections.abc import Mapping
from typing import Final

VIEW: Final = "review.view"
VIEW_PAYLOAD: Final = "review.view_payload"
RESOLVE: Final = "review.resolve"
RESEND: Final = "review.resend"
ABANDON: Final = "review.abandon"
LOOK_AGAIN: Final = "review.look_again"
APPROVE: Final = "review.approve"

_VIEWER: Final = frozenset({VIEW})
_OPERATOR: Final = _VIEWER | {VIEW_PAYLOAD, RESOLVE, RESEND, ABANDON, LOOK_AGAIN}
_APPROVER: Final = _OPERATOR | {APPROVE}
# People and their roles are Django's own tables, with Django's own rights.
_PEOPLE: Final = frozenset(
    {"auth.view_user", "auth.add_user", "auth.change_user", "auth.view_group"}
)

ROLES: Mapping[str, frozenset[str]] = {
    "viewer": _VIEWER,
    "operator": _OPERATOR,
    "approver": _APPROVER,
    "administrator": _APPROVER | _PEOPLE,
}

# What a role is for, as somebody without one is told.
ROLE_WORDS: Mapping[str, str] = {
    "viewer": "looks",
    "operator": "decides",
    "approver": "also confirms what others proposed",
    "administrator": "also gives roles",
}

# Where roles are given: the page of the header that an administrator sees.
WHERE_ROLES: Final = "roles are given under People"

# What to tell somebody who lacks a right.
RIGHT_WORDS: Mapping[str, str] = {
    VIEW: "see the console",
    VIEW_PAYLOAD: "see payload values",
    RESOLVE: "resolve items",
    RESEND: "resend items",
    ABANDON: "abandon items",
    LOOK_AGAIN: "ask providers again",
    APPROVE: "approve what another person proposed",
}
