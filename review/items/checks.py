"""What a person should look at by hand at a provider, as its profile says."""

from collections.abc import Mapping
from contextlib import suppress

from ledger.models import Job, Provider
from review.text import shown
from sweeper.errors import ProviderRejectedError
from sweeper.providers.base import Identity
from sweeper.providers.template import fill

_MOST = 8


def what_to_check(job: Job, provider: Provider | None) -> tuple[str, ...]:
    """Return the profile's hints with this effect's own key and handle in them."""
    profile = provider.profile if provider is not None else None
    hints = profile.get("check") if isinstance(profile, Mapping) else None
    if not isinstance(hints, list):
        return ()
    identity = Identity(job.id, job.provider_key, job.handle)
    return tuple(_filled(str(hint), identity) for hint in hints[:_MOST])


def _filled(hint: str, identity: Identity) -> str:
    # A profile that was never checked may hold anything; as it stands it may still help.
    with suppress(ProviderRejectedError):
        hint = fill(hint, identity)
    return shown(hint, 600)
