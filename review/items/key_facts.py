"""The facts of a key: whose it is, which versions, what it answers, and how long it is kept."""

from ledger.models import ArchivedIdem, Effect, Idem
from review.items.addresses import item_url
from review.items.page import Fact
from review.text import actor, shown

_OUTCOMES = {
    "success": "done",
    "failed": "failed",
    "skipped": "skipped",
    "abandoned": "given up",
}


def key_facts(key: Idem | ArchivedIdem) -> list[Fact]:
    """Return what is known of a key, live or archived."""
    archived = isinstance(key, ArchivedIdem)
    carried = f"carried to {key.carried_to_version}" if key.carried_to_version else ""
    return [
        Fact("Kept in", "the archive" if archived else "the live table"),
        Fact("Status", key.status, _OUTCOMES.get(key.outcome or "", shown(key.outcome, 40))),
        Fact("Effect", shown(key.effect, 80), f"{key.effect_kind}s"),
        Fact("Version", str(key.effect_version), carried),
        Fact("Workflow", actor(key.workflow, 80)),
        Fact(
            "Job",
            shown(key.job_id, 80),
            mono=True,
            href=item_url("job", key.job_id) if key.job_id else "",
        ),
        Fact("HTTP status", str(key.http_status) if key.http_status else ""),
        Fact("Taken", at=key.claimed_at),
        Fact("Answered", at=key.done_at),
        Fact("Last retry possible", at=key.last_possible_retry_at),
        Fact("Kept until", at=key.retain_until, hint=_why_kept(key)),
        Fact("Archived", at=key.archived_at if isinstance(key, ArchivedIdem) else None),
        Fact("Content hash", shown(key.payload_hash, 80), mono=True),
    ]


def _why_kept(key: Idem | ArchivedIdem) -> str:
    """Say which rule keeps a key."""
    if isinstance(key, ArchivedIdem):
        return "forgotten only where a person signed an archive expiry"
    if key.status != "done":
        return "kept until it is answered"
    name = Effect.objects.filter(pk=key.effect).values_list("provider_id", flat=True).first()
    return f"past the last possible retry and what {shown(name, 60) or 'its provider'} remembers"
