"""The policies: one row per constant, read by the code and by what watches it."""

from ledger.models import Policy
from review.explore.shapes import Line, Listing, Look, Tab
from review.items.addresses import item_url
from review.items.asks import policy_words
from review.items.setup_facts import source_chip
from review.text import shown


def _line(policy: Policy, look: Look) -> Line:
    by = ""
    if policy.source == "operator":
        by = f" · set by {look.people.name(policy.set_by, '', 60)}"
    return Line(
        what=shown(policy.name, 80),
        url=item_url("policy", policy.name),
        why=f"{shown(policy.note, 200)}{by}",
        chips=(source_chip(policy.source),),
        at=policy.set_at,
        last=policy_words(policy),
    )


POLICIES = Listing(
    title="Policies",
    story="Every constant is one row, read by the code and by the monitor that watches it. A guess "
    "is a value nobody has measured here yet. Open one to change it, with a reason.",
    heads=("Policy", "Where from", "Value"),
    finds="Find a policy by its whole name",
    tabs={
        "": Tab("All", Policy.objects.all, ("name",), "by name", when="Set"),
        "guesses": Tab(
            "Guesses",
            lambda: Policy.objects.filter(source="guess"),
            ("name",),
            "by name",
            when="Set",
            empty="No value is a guess any more.",
        ),
        "ours": Tab(
            "Set here",
            lambda: Policy.objects.filter(source="operator"),
            ("name",),
            "by name",
            when="Set",
            empty="Nobody has changed a policy yet.",
        ),
    },
    find=lambda text: list(Policy.objects.filter(pk=text)),
    line=_line,
)
