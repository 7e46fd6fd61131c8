"""The providers: whom effects are sent to, how they treat a repeat, how long keys are kept."""

from typing import Any

from ledger.models import Provider
from review.explore.shapes import Line, Listing, Look, Tab
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.setup_facts import class_chip, days
from review.text import actor, age, shown


def _providers() -> Any:
    return Provider.objects.defer("lookup_config", "profile")


def _line(provider: Provider, _look: Look) -> Line:
    chips = [class_chip(provider)]
    if provider.auto_registered:
        chips.append(Chip("registered by itself", "warn", "!"))
    remembers = ""
    if provider.class_field == "forced_unique":
        life = "for ever" if provider.key_unlimited else f"for {age(provider.key_ttl_seconds or 0)}"
        remembers = f" · remembers a key {life}"
    signed = (
        f"forgotten after {days(provider.archive_expiry)}, signed by "
        f"{actor(provider.archive_signed_by, 40)}"
        if provider.archive_expiry
        else "kept for ever: no expiry is signed"
    )
    return Line(
        what=shown(provider.name, 80),
        url=item_url("provider", provider.name),
        why=f"lease {age(provider.lease_seconds)} · settle {age(provider.settle_seconds)}"
        f" · replays for {days(provider.replay_horizon)}{remembers}",
        chips=tuple(chips),
        at=provider.created_at,
        last=signed,
    )


PROVIDERS = Listing(
    title="Providers & retention",
    story="The class of a provider decides what recovery may do without a person. Open one to "
    "change what is known of it, or to sign from when its archived keys may be forgotten.",
    heads=("Provider", "Class", "Archived keys"),
    finds="Find a provider by its whole name",
    tabs={
        "": Tab("All", _providers, ("name",), "by name", when="Since"),
        "strangers": Tab(
            "Registered by themselves",
            lambda: _providers().filter(auto_registered=True),
            ("name",),
            "by name",
            when="Since",
            empty="A person has registered every provider.",
        ),
    },
    find=lambda text: list(_providers().filter(pk=text)),
    line=_line,
    lost="A provider and its driver are registered with manage.py provider.",
)
