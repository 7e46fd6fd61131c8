"""What is stored of an item that is no conflict, as a preview: its bytes where they are kept."""

from dataclasses import replace
from typing import Any

from review.items import reading
from review.items.hidden import hidden, hidden_body
from review.items.parts import Payload
from review.jsonvalue import PREVIEW_LIMIT
from review.language import later

# source: the column its content is in, and what that is called
_COLUMNS = {
    "failed_job": ("payload", later("Payload")),
    "outbox": ("payload", later("Payload")),
    "key": ("result", later("Result")),
    "archived": ("result", later("Result")),
}


def of_other(source: str, row: Any, *, allowed: bool, again: bool) -> list[Payload]:
    """Preview the content of a row, if this person may see it; again: a resend sends it."""
    if source == "job":
        return [reading.payload_of_job(row, allowed=allowed)]
    if source not in _COLUMNS:
        return []
    column, label = _COLUMNS[source]
    digest = _digest(source, row)
    if not allowed:
        found = (hidden_body(label, digest) if digest else None) or hidden(label, row, column)
        return [found] if found else []
    if digest and (kept := reading.payload_of_body(label, digest)):
        return [replace(kept, resent=source == "failed_job" and again)]
    text = (
        type(row)
        .objects.filter(pk=row.pk)
        .annotate(text=reading.json_text(column, PREVIEW_LIMIT))
        .values_list("text", flat=True)
        .first()
    )
    return [reading.preview(label, text)] if text is not None else []


def _digest(source: str, row: Any) -> bytes | None:
    """Return the digest of the bytes a row's content is kept as, where it is kept apart."""
    if source == "failed_job" and row.payload_sha256:
        return bytes(row.payload_sha256)
    if source in ("key", "archived") and row.result_ref:
        return bytes.fromhex(row.result_ref)
    return None
