"""The providers: whom effects are sent to, how they treat a repeat, how long keys are kept."""

from typing import Any

from ledger.models import Provider
from review.explore.shapes import Line, Listing, Look, Tab
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.setup_facts import class_chip, days
from review.language import _, later
from review.text import actor, age, shown


def _providers() -> Any:
    return Provider.objects.defer("lookup_config", "profile")


def _line(provider: Provider, _look: Look) -> Line:
    chips = [class_chip(provider)]
    if provider.auto_registered:
        chips.append(Chip(_("registered by itself"), "warn", "!"))
    why = [
        _("lease {age}").format(age=age(provider.lease_seconds)),
        _("settle {age}").format(age=age(provider.settle_seconds)),
        _("replays for {days}").format(days=days(provider.replay_horizon)),
    ]
    if provider.class_field == "forced_unique":
        life = _("remembers a key for {age}").format(age=age(provider.key_ttl_seconds or 0))
        why.append(_("remembers a key for ever") if provider.key_unlimited else life)
    signed = _("kept for ever: no expiry is signed")
    if provider.archive_expiry:
        signed = _("forgotten after {days}, signed by {name}").format(
            days=days(provider.archive_expiry), name=actor(provider.archive_signed_by, 40)
        )
    return Line(
        what=shown(provider.name, 80),
        url=item_url("provider", provider.name),
        why=" · ".join(why),
        chips=tuple(chips),
        at=provider.created_at,
        last=signed,
    )


PROVIDERS = Listing(
    title=later("Providers & retention"),
    story=later(
        "The class of a provider decides what recovery may do without a person. Open one to change "
        "what is known of it, or to sign from when its archived keys may be forgotten."
    ),
    heads=(later("Provider"), later("Class"), later("Archived keys")),
    finds=later("Find a provider by its whole name"),
    tabs={
        "": Tab(later("All"), _providers, ("name",), later("by name"), when=later("Since")),
        "strangers": Tab(
            later("Registered by themselves"),
            lambda: _providers().filter(auto_registered=True),
            ("name",),
            later("by name"),
            when=later("Since"),
            empty=later("A person has registered every provider."),
        ),
    },
    find=lambda text: list(_providers().filter(pk=text)),
    line=_line,
    lost=later("A provider and its driver are registered with manage.py provider."),
)
