"""The facts of a key: whose it is, which versions, what it answers, and how long it is kept."""

from ledger.models import ArchivedIdem, Effect, Idem
from review.items.addresses import item_url
from review.items.page import Fact
from review.language import _, later
from review.text import actor, shown

_OUTCOMES = {
    "success": later("done"),
    "failed": later("failed"),
    "skipped": later("skipped"),
    "abandoned": later("given up"),
}
# What a second version of an effect does to the first.
_EFFECTS = {"replace": later("replaces"), "add": later("adds")}


def key_facts(key: Idem | ArchivedIdem) -> list[Fact]:
    """Return what is known of a key, live or archived."""
    archived = isinstance(key, ArchivedIdem)
    carried = ""
    if key.carried_to_version:
        carried = _("carried to {version}").format(version=key.carried_to_version)
    return [
        Fact(_("Kept in"), _("the archive") if archived else _("the live table")),
        Fact(_("Status"), key.status, _OUTCOMES.get(key.outcome or "", shown(key.outcome, 40))),
        Fact(_("Effect"), shown(key.effect, 80), _EFFECTS.get(key.effect_kind, key.effect_kind)),
        Fact(_("Version"), str(key.effect_version), carried),
        Fact(_("Workflow"), actor(key.workflow, 80)),
        Fact(
            _("Job"),
            shown(key.job_id, 80),
            mono=True,
            href=item_url("job", key.job_id) if key.job_id else "",
        ),
        Fact(_("HTTP status"), str(key.http_status) if key.http_status else ""),
        Fact(_("Taken"), at=key.claimed_at),
        Fact(_("Answered"), at=key.done_at),
        Fact(_("Last retry possible"), at=key.last_possible_retry_at),
        Fact(_("Kept until"), at=key.retain_until, hint=_why_kept(key)),
        Fact(_("Archived"), at=key.archived_at if isinstance(key, ArchivedIdem) else None),
        Fact(_("Content hash"), shown(key.payload_hash, 80), mono=True),
    ]


def _why_kept(key: Idem | ArchivedIdem) -> str:
    """Say which rule keeps a key."""
    if isinstance(key, ArchivedIdem):
        return _("forgotten only where a person signed an archive expiry")
    if key.status != "done":
        return _("kept until it is answered")
    name = Effect.objects.filter(pk=key.effect).values_list("provider_id", flat=True).first()
    if not name:
        return _("past the last possible retry and what its provider remembers")
    words = _("past the last possible retry and what {provider} remembers")
    return words.format(provider=shown(name, 60))
