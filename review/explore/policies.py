"""The policies: one row per constant, read by the code and by what watches it."""

from django.utils.html import format_html

from ledger.models import Policy
from review.explore.shapes import Line, Listing, Look, Tab
from review.items.addresses import item_url
from review.items.asks import policy_words
from review.items.setup_facts import source_chip
from review.language import _, later
from review.text import shown


def _line(policy: Policy, look: Look) -> Line:
    why = shown(policy.note, 200)
    if policy.source == "operator":
        by = format_html(_("set by {name}"), name=look.people.name(policy.set_by, "", 60))
        why = format_html("{} · {}", why, by)
    return Line(
        what=shown(policy.name, 80),
        url=item_url("policy", policy.name),
        why=why,
        chips=(source_chip(policy.source),),
        at=policy.set_at,
        last=policy_words(policy),
    )


POLICIES = Listing(
    title=later("Policies"),
    story=later(
        "Every constant is one row, read by the code and by the monitor that watches it. A guess "
        "is a value nobody has measured here yet. Open one to change it, with a reason."
    ),
    heads=(later("Policy"), later("Where from"), later("Value")),
    finds=later("Find a policy by its whole name"),
    tabs={
        "": Tab(later("All"), Policy.objects.all, ("name",), later("by name"), when=later("Set")),
        "guesses": Tab(
            later("Guesses"),
            lambda: Policy.objects.filter(source="guess"),
            ("name",),
            later("by name"),
            when=later("Set"),
            empty=later("No value is a guess any more."),
        ),
        "ours": Tab(
            later("Set here"),
            lambda: Policy.objects.filter(source="operator"),
            ("name",),
            later("by name"),
            when=later("Set"),
            empty=later("Nobody has changed a policy yet."),
        ),
    },
    find=lambda text: list(Policy.objects.filter(pk=text)),
    line=_line,
)
