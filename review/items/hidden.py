"""What is shown in place of content to somebody who may not see it: how much, its hash, who may.

The content itself never leaves the database for such a reader; two people can still tell by the
hash that they speak of the same.
"""

from typing import Any

from django.db.models import BigIntegerField, Case, F, Func, TextField, When
from django.db.models.functions import Cast, Length

from ledger.models import PayloadBody
from review.items.parts import Payload
from review.jsonvalue import Preview
from review.language import _
from review.rights import VIEW_PAYLOAD, WHERE_ROLES, holders
from review.text import listed

# A hash of more than this takes longer than a page may; the size is told all the same.
_HASHED = 4 * 1024 * 1024


def hidden(label: str, row: Any, column: str) -> Payload | None:
    """Measure a JSON or text column of a row; nothing where nothing is stored."""
    size, sha256 = measured(row, column)
    return None if size is None else _payload(label, size, sha256)


def hidden_body(label: str, sha256: bytes) -> Payload | None:
    """Measure bytes that are kept under their digest; nothing where none are kept."""
    found = PayloadBody.objects.filter(sha256=sha256).annotate(size=Length("body"))
    size = found.values_list("size", flat=True).first()
    return None if size is None else _payload(label, size, sha256.hex())


def measured(row: Any, column: str) -> tuple[int | None, str]:
    """Return the size and the SHA-256 of a column's text, both made by the database."""
    text = Cast(F(column), TextField())
    digest = Func(text, template="encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')")
    stored = Func(F(column), function="pg_column_size", output_field=BigIntegerField())
    found = (
        type(row)
        .objects.filter(pk=row.pk)
        .annotate(stored_size=stored)
        .annotate(
            text_size=Func(text, function="octet_length", output_field=BigIntegerField()),
            text_hash=Case(When(stored_size__lt=_HASHED, then=digest), output_field=TextField()),
        )
        .values_list("text_size", "text_hash")
        .first()
    )
    return (found[0], found[1] or "") if found else (None, "")


def who_may() -> str:
    """Say which roles see content, and where they are given."""
    roles = listed(holders(VIEW_PAYLOAD))
    return _("The roles {roles} may see it; {where}.").format(roles=roles, where=WHERE_ROLES)


def _payload(label: str, size: int, sha256: str) -> Payload:
    return Payload(label, Preview("", cut=False), size, hidden=True, sha256=sha256, who=who_may())
