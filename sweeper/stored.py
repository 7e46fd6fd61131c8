"""What a job was given, byte for byte as it is stored; no number is parsed on the way."""

from django.db.models import TextField
from django.db.models.functions import Cast

from ledger.models import Job, PayloadBody


def payload_bytes(job_id: str) -> bytes:
    """Return the payload byte for byte as it came in; numbers are not parsed on the way."""
    digest = Job.objects.values_list("body_sha256", flat=True).get(id=job_id)
    body = PayloadBody.objects.filter(sha256=digest).values_list("body", flat=True).first()
    if body is not None:
        return bytes(body)
    return _text_of("payload", job_id)


def event_bytes(job_id: str) -> bytes:
    """Return the event a job's key was derived from, as JSON."""
    return _text_of("event", job_id)


def _text_of(column: str, job_id: str) -> bytes:
    rows = Job.objects.annotate(text=Cast(column, TextField()))
    stored: str | None = rows.values_list("text", flat=True).get(id=job_id)
    return (stored or "null").encode()
