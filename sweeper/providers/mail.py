"""Mail as data: a message whose Message-ID is the effect's handle, and that header read back.

Shared by the drivers that send mail; how it travels is theirs.
"""

import re
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from typing import Any

import orjson

from sweeper.errors import ProviderRejectedError
from sweeper.providers.base import Identity

# Printable ASCII without spaces, quotes, backslashes and brackets: nothing that could end a quoted
# string of IMAP or a header line.
MESSAGE_ID = re.compile(r"<[!#-;=?A-\[\]-~]+@[!#-;=?A-\[\]-~]+>")

# Every relay takes 7-bit text, so no server has to rewrite the message on its way.
SEVEN_BIT = policy.SMTP.clone(cte_type="7bit")


def compose(identity: Identity, payload: bytes, sender: str) -> EmailMessage:
    """Build the message; its Message-ID is the handle and nothing else."""
    check_handle(identity.handle)
    try:
        fields = orjson.loads(payload)
        message = EmailMessage(policy=SEVEN_BIT)
        message["Message-ID"] = identity.handle
        message["Date"] = datetime.now(UTC)
        message["From"] = sender
        for header in ("To", "Cc"):
            people = fields.get(header.lower()) or []
            message[header] = ", ".join([people] if isinstance(people, str) else people)
        message["Subject"] = str(fields.get("subject", ""))
        message.set_content(str(fields.get("text", "")))
        if html := fields.get("html"):
            message.add_alternative(str(html), subtype="html")
    except (ValueError, TypeError, AttributeError) as error:
        raise ProviderRejectedError(f"the payload is no mail: {error}") from error
    if not (people_of(message, "From") and people_of(message, "To")):
        raise ProviderRejectedError("a mail needs a sender and somebody in 'to'")
    return message


def people_of(message: EmailMessage, header: str) -> list[str]:
    """Return the bare addresses of one header, and refuse those SMTP could misread."""
    value: Any = message[header]
    people = [str(address.addr_spec) for address in value.addresses]
    for address in people:
        if not (address.isascii() and address.isprintable() and "@" in address[1:-1]):
            raise ProviderRejectedError(f"{address!r} is not a plain mail address")
    return people


def check_handle(handle: str) -> None:
    """Refuse a handle that could end a header line or a quoted string."""
    if not MESSAGE_ID.fullmatch(handle):
        raise ProviderRejectedError(f"the handle {handle!r} cannot be a Message-ID")


def message_id_of(header: bytes) -> str | None:
    """Return the header's value without the folding, which is no part of it."""
    value: object = BytesHeaderParser(policy=policy.compat32).parsebytes(header)["Message-ID"]
    return None if value is None else re.sub(r"\r?\n", "", str(value)).strip()
