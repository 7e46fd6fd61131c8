"""The facts of a job: who holds it and until when, what was sent, and what belongs to it."""

from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode

from ledger.models import FailedJob, Job, Provider, Workflow
from review.items.addresses import item_url, list_url
from review.items.page import Fact
from review.items.parts import SendPart
from review.items.sends import class_name, send_part, was_marked
from review.language import _, later
from review.text import actor, shown

_LIVING = ("open", "retrying", "exhausted")
_EXECUTION = later("its green tick proves nothing about the effect")


def facts(job: Job, provider: Provider | None, workflow: Workflow | None) -> list[Fact]:
    """Return what is known of a job; a line without a value is left out by the page."""
    return [
        Fact(_("Workflow"), actor(job.workflow, 80), href=_setup("workflow", workflow)),
        Fact(
            _("Provider"),
            shown(job.provider, 80),
            class_name(provider),
            href=_setup("provider", provider),
        ),
        Fact(_("Key"), shown(job.idem_key, 120), mono=True, href=item_url("key", job.idem_key)),
        *_hold(job),
        Fact(_("Due"), at=job.run_after if job.state == "queued" else None),
        Fact(_("Marked as sent"), at=job.marker_at or job.first_marked_at),
        Fact(_("Sends"), str(job.send_no) if job.send_no else ""),
        Fact(_("Reference"), shown(job.provider_ref, 120), mono=True),
        Fact(_("Attempts"), str(job.attempts)),
        Fact(_("Resends"), str(job.resends) if job.resends else ""),
        Fact(_("Lane"), shown(job.serial_key, 80), mono=True),
        execution(job, workflow),
        Fact(_("Last error"), shown(job.last_error, 300), shown(job.error_node, 80)),
        Fact(_("Made"), at=job.created_at),
        Fact(_("Done"), at=job.done_at),
        Fact(_("Version"), str(job.version)),
    ]


def _hold(job: Job) -> list[Fact]:
    """Return who holds it; of the token only its end, for who knows it may finish the job."""
    if job.owner_token is None or job.lease_expires_at is None:
        return []
    return [
        Fact(_("Held by"), shown(job.owner_name or job.owner_kind, 80)),
        Fact(_("Token"), f"…{str(job.owner_token)[-4:]}", mono=True),
        Fact(_("Sign of life"), at=job.heartbeat_at or job.claimed_at),
        Fact(_("Lease ends"), at=job.lease_expires_at),
    ]


def lease(job: Job, now: datetime) -> tuple[int, int] | None:
    """Return the seconds that are left of the lease, and those it lasts."""
    if job.lease_expires_at is None:
        return None
    left = round((job.lease_expires_at - now).total_seconds())
    return max(0, min(left, job.lease_seconds)), job.lease_seconds


def execution(job: Job, workflow: Workflow | None) -> Fact:
    """Lead to the execution in the engine, where its editor is known."""
    editor = workflow.editor_url if workflow else None
    href = ""
    if job.execution_id and editor and editor.startswith(("http://", "https://")):
        href = f"{editor.rstrip('/')}/executions/{job.execution_id}"
    hint = _EXECUTION if job.execution_id else ""
    return Fact(_("Execution"), shown(job.execution_id, 60), hint, href=href)


def _setup(source: str, row: Provider | Workflow | None) -> str:
    return item_url(source, row.pk) if row is not None else ""


def send(
    job: Job, provider: Provider | None, workflow: Workflow | None, now: datetime
) -> SendPart | None:
    """Weigh the evidence of a job that was marked as sent."""
    if not was_marked(job):
        return None
    part = send_part(job, provider, workflow, _("the worker"), now)
    return part if job.state == "review" else replace(part, check=())


def links(job: Job) -> list[tuple[str, str]]:
    """Lead to what belongs to a job."""
    letter = FailedJob.objects.filter(job_id=job.id, state__in=_LIVING).only("id").first()
    found = [(_("Its dead letter"), item_url("failed_job", letter.id))] if letter else []
    return [*found, (_("Its key"), item_url("key", job.idem_key)), audit_of("job", job.id)]


def audit_of(by: str, name: str) -> tuple[str, str]:
    """Lead to the audit of a subject."""
    return (_("All of its audit"), list_url("audit", "?" + urlencode({"by": by, "q": name})))
