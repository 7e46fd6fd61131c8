"""Mail: sent over SMTP under a deterministic Message-ID, looked up over IMAP.

Configuration: ``smtp`` (host, port, security, username, password_env, from, archive_bcc) and
``imap`` (host, port, security, username, password_env, mailboxes). ``security`` is ``tls``,
``starttls`` or, for hosts named in ``allow_private``, ``none``. The payload is a JSON object with
to, cc, subject, text and html. The Message-ID is the handle: SMTP enforces nothing, but every
copy carries it.
"""

import imaplib
import re
import smtplib
from typing import Any

from sweeper.errors import LookupInconclusiveError, ProviderRejectedError
from sweeper.mail_transport import MailHost, imap, smtp
from sweeper.providers.base import (
    Absent,
    Config,
    Found,
    Identity,
    LookUp,
    SendResult,
    Sent,
    check_settings,
    secret,
    setting,
    timeout,
)
from sweeper.providers.mail import (
    SEVEN_BIT,
    check_handle,
    compose,
    message_id_of,
    people_of,
)

# A mailbox holds one copy of a message, or a few; a search that gives more is no search.
MOST_CANDIDATES = 50

LINE = {"host": str, "port": int, "security": str, "username": str, "password_env": str}
SETTINGS = {"smtp": dict, "imap": dict, "allow_private": list, "timeout_seconds": float}
SMTP = {**LINE, "from": str, "archive_bcc": str}
IMAP = {**LINE, "mailboxes": list}


class Mail:
    """Send by SMTP, look up by IMAP."""

    def can_look_up(self, config: Config) -> bool:
        """Say whether a mailbox to search is configured."""
        return "imap" in config

    def check(self, config: Config) -> None:
        """Refuse what this driver does not know, and hosts it would not talk to."""
        check_settings(config, SETTINGS)
        if "smtp" in config or not self.can_look_up(config):
            section = setting(config, "smtp", dict)
            check_settings(section, SMTP, "smtp")
            setting(section, "from", str)
            _host(section, config, 587)
        if self.can_look_up(config):
            section = setting(config, "imap", dict)
            check_settings(section, IMAP, "imap")
            setting(section, "username", str)
            _host(section, config, 993)

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Hand the message over; only between its last byte and the reply is anything unknown."""
        section = setting(config, "smtp", dict)
        message = compose(identity, payload, setting(section, "from", str))
        people = [*people_of(message, "From"), *people_of(message, "To"), *people_of(message, "Cc")]
        if archive := setting(section, "archive_bcc", str, ""):
            people.append(archive)
        user, password = _login(section)
        text = message.as_bytes(policy=SEVEN_BIT)
        with smtp(_host(section, config, 587)) as client:
            if user:
                client.login(user, password)
            _expect(client.mail(people[0]), 250)
            for address in people[1:]:
                _expect(client.rcpt(address), 250, 251)
            _expect(client.docmd("DATA"), 354)
            return _transmit(client, text, identity.handle)

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Search every configured mailbox; absent only if all of them answered."""
        check_handle(identity.handle)
        section = setting(config, "imap", dict)
        mailboxes = [str(name) for name in setting(section, "mailboxes", list, ["INBOX"])]
        with imap(_host(section, config, 993)) as client:
            client.login(*_login(section))
            for mailbox in mailboxes:
                uid = _find(client, mailbox, identity.handle)
                if uid is not None:
                    return Found(f"{mailbox}/{uid}", f"Message-ID found in {mailbox}")
        return Absent(f"no such Message-ID in {', '.join(mailboxes)}")


def _host(section: Config, config: Config, default_port: int) -> MailHost:
    return MailHost(
        host=setting(section, "host", str),
        port=setting(section, "port", int, default_port),
        security=setting(section, "security", str, "tls"),
        allow_private=setting(config, "allow_private", list, []),
        seconds=timeout(config),
    )


def _login(section: Config) -> tuple[str, str]:
    user = setting(section, "username", str, "")
    return user, secret(setting(section, "password_env", str)) if user else ""


def _expect(reply: tuple[int, bytes], *codes: int) -> None:
    """Stop before the message: until DATA was ended nothing is delivered to anybody."""
    if reply[0] not in codes:
        raise ProviderRejectedError(f"the server answered {_words(reply)}")


def _words(reply: tuple[int, bytes]) -> str:
    return f"{reply[0]} {reply[1][:300].decode('utf-8', 'replace')}"


def _transmit(client: smtplib.SMTP, message: bytes, handle: str) -> SendResult:
    """Send the body and read the one reply that says whether the server has taken it."""
    lines = re.sub(rb"\r\n|\r|\n", b"\r\n", message).rstrip(b"\r\n")
    try:
        client.send(re.sub(rb"(?m)^\.", b"..", lines) + b"\r\n.\r\n")
        reply = client.getreply()
    except (smtplib.SMTPException, OSError) as error:
        return SendResult(Sent.UNKNOWN, f"no reply to the message: {error}")
    if reply[0] == 250:
        return SendResult(Sent.ACCEPTED, provider_ref=handle, result={"reply": _words(reply)})
    return SendResult(Sent.REJECTED, f"the server answered {_words(reply)}")


def _find(client: imaplib.IMAP4, mailbox: str, handle: str) -> str | None:
    """Return the UID of the message with exactly this Message-ID.

    The server's search is by substring and ignores case, so it only proposes: what decides is the
    header itself, byte for byte.
    """
    name = '"' + mailbox.replace("\\", "\\\\").replace('"', '\\"') + '"'
    _ok(client.select(name, readonly=True), f"mailbox {mailbox}")
    found = _ok(client.uid("SEARCH", "HEADER", "Message-ID", f'"{handle}"'), "search")
    uids: list[str] = [uid.decode("ascii") for part in found if part for uid in part.split()]
    for uid in uids[:MOST_CANDIDATES]:
        wanted = "(BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])"
        for part in _ok(client.uid("FETCH", uid, wanted), "fetch"):
            if isinstance(part, tuple) and message_id_of(part[1]) == handle:
                return uid
    if len(uids) > MOST_CANDIDATES:
        raise LookupInconclusiveError(f"the search in {mailbox} gave {len(uids)} messages")
    return None


def _ok(answer: tuple[str, Any], what: str) -> list[Any]:
    status, data = answer
    if status != "OK":
        raise LookupInconclusiveError(f"{what}: the server answered {status} {data!r:.200}")
    return list(data)


DRIVER = Mail()
