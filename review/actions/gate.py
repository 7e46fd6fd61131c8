"""The gate of every page and verb: a right, and where a policy says so a second factor.

A page, a set, a token and a command ask here. What is refused is recorded by who asked.
"""

from django.contrib.auth.models import AbstractUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied

from review.access import second_factor
from review.decisions import VERB_RIGHTS
from review.items.offers import lacking, without_second_factor
from review.language import _
from review.rights import ADMINISTER

_CHANGE_PEOPLE = "auth.change_user"


class NotAllowed(PermissionDenied):
    """A refusal that knows what was missing, for who is told and for the audit."""

    def __init__(self, words: str, *, right: str, event: str = "right_missing") -> None:
        """Keep the right that was asked for, and what of it was missing."""
        super().__init__(words)
        self.right, self.event = right, event


def require(user: AbstractUser | AnonymousUser, right: str) -> None:
    """Refuse with a plain sentence where the right is missing."""
    if missing := lacking(user, right):
        raise NotAllowed(missing, right=right)


def require_verb(user: AbstractUser | AnonymousUser, verb: str) -> None:
    """Refuse a verb whose right is missing, or that needs a second factor this log-in lacks."""
    require(user, VERB_RIGHTS[verb])
    if second_factor.missing(user, verb):
        words = without_second_factor()
        raise NotAllowed(words, right=VERB_RIGHTS[verb], event="second_factor_missing")


def may_change(user: AbstractUser | AnonymousUser, person: User) -> None:
    """Refuse whoever may not change somebody's account; a superuser's only a superuser may."""
    if not user.has_perm(_CHANGE_PEOPLE):
        raise NotAllowed(_("Your role may not change people's accounts."), right=_CHANGE_PEOPLE)
    if person.is_superuser and not getattr(user, "is_superuser", False):
        raise NotAllowed(_("Only a superuser may do this to a superuser."), right=ADMINISTER)
