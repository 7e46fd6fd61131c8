"""The one way out for mail: SMTP and IMAP connections to judged addresses, with hard caps.

The standard clients bound each read, not the whole talk, and believe any announced size. Here a
connection is cut at its deadline whatever the other side drips, and replies, lines and literals
have limits. Nothing here knows what a message or a handle is.
"""

import contextlib
import imaplib
import smtplib
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import override

from ledger.crash import crash_point
from sweeper.addresses import Deadline, connect, is_allowed
from sweeper.errors import (
    LookupInconclusiveError,
    ProviderRejectedError,
    ProviderUnavailableError,
)
from sweeper.transport import tls_context

SECURITIES = ("tls", "starttls", "none")

# RFC 5321 allows 512 octets a line; a greeting or an EHLO reply has a dozen lines.
LONGEST_REPLY_LINE = 4_096
MOST_REPLY_LINES = 100
# A look-up reads header lines of a few messages.
LARGEST_LITERAL = 65_536
MOST_IMAP_BYTES = 2_097_152


@dataclass(frozen=True, slots=True)
class MailHost:
    """Where a mail server is and how it may be spoken to."""

    host: str
    port: int
    security: str = "tls"
    allow_private: Collection[str] = ()
    seconds: float = 15.0

    def __post_init__(self) -> None:
        """Refuse to talk in the clear to anybody an operator has not named."""
        if self.security not in SECURITIES:
            raise ProviderRejectedError(f"mail security is one of {', '.join(SECURITIES)}")
        if self.security == "none" and not is_allowed(self.host, self.port, self.allow_private):
            raise ProviderRejectedError(
                f"{self.host} is called without TLS only if allow_private names it"
            )


@contextmanager
def smtp(host: MailHost) -> Iterator[smtplib.SMTP]:
    """Give a greeted client. What fails in the block outside a transmission had no effect."""
    crash_point("smtp.before")
    try:
        with _connection(host) as line, closing(_Smtp(host, line)) as client:
            client.ehlo_or_helo_if_needed()
            if host.security == "starttls":
                client.starttls(context=tls_context())
                client.ehlo()
            yield client
        crash_point("smtp.answered")
    except (smtplib.SMTPException, OSError) as error:
        raise ProviderUnavailableError(f"{host.host}: {error}", sent=False) from error


@contextmanager
def imap(host: MailHost) -> Iterator[imaplib.IMAP4]:
    """Give a connected client. What fails in the block is inconclusive."""
    crash_point("imap.before")
    try:
        with _connection(host) as line, _Imap(host, line) as client:
            if host.security == "starttls":
                client.starttls(ssl_context=tls_context())
            yield client
        crash_point("imap.answered")
    except (imaplib.IMAP4.error, OSError) as error:
        raise LookupInconclusiveError(f"{host.host}: {error}") from error


@contextmanager
def _connection(host: MailHost) -> Iterator[socket.socket]:
    """Open a connection that is cut at the deadline, and closed without a word at the end.

    The cut goes through a duplicate of the socket, so it works under TLS and in the middle of a
    read; shutting it down ends the connection for every holder.
    """
    line = connect(host.host, host.port, Deadline(host.seconds), host.allow_private)
    with line.dup() as guard:
        timer = threading.Timer(host.seconds, _cut, [guard])
        timer.daemon = True
        timer.start()
        try:
            line.settimeout(host.seconds)
            if host.security == "tls":
                line = tls_context().wrap_socket(line, server_hostname=host.host)
            yield line
        finally:
            timer.cancel()
            _cut(guard)
            line.close()


def _cut(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


class _Smtp(smtplib.SMTP):
    """smtplib over a connection that was opened here."""

    def __init__(self, host: MailHost, line: socket.socket) -> None:
        self._line = line
        super().__init__(host.host, host.port)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._line

    @override
    def close(self) -> None:
        """Close without a word; nothing that fails here may cast doubt on a reply already read."""
        with contextlib.suppress(OSError):
            super().close()

    @override
    def getreply(self) -> tuple[int, bytes]:
        """Read one reply of bounded length."""
        if self.sock is None:
            raise smtplib.SMTPServerDisconnected("not connected")
        if self.file is None:  # at the greeting, and again after STARTTLS
            self.file = self.sock.makefile("rb")
        texts: list[bytes] = []
        for _ in range(MOST_REPLY_LINES):
            line = self.file.readline(LONGEST_REPLY_LINE)
            if not line.endswith(b"\n") or not line[:3].isdigit():
                raise smtplib.SMTPServerDisconnected("the server hung up or does not speak SMTP")
            texts.append(line[4:].strip())
            if line[3:4] != b"-":
                return int(line[:3]), b"\n".join(texts)
        raise smtplib.SMTPServerDisconnected("the server's reply does not end")


class _Imap(imaplib.IMAP4):
    """imaplib over a connection that was opened here, reading a bounded amount in all."""

    def __init__(self, host: MailHost, line: socket.socket) -> None:
        self._line = line
        self._left = MOST_IMAP_BYTES
        super().__init__(host.host, host.port)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        return self._line

    @override
    def __exit__(self, *_: object) -> None:
        """Close the socket without a LOGOUT; the mailbox was only read."""
        with contextlib.suppress(OSError):
            self.shutdown()

    @override
    def read(self, size: int) -> bytes:
        if size > LARGEST_LITERAL:
            raise self.abort(f"the server announced {size} bytes")
        return self._counted(super().read(size))

    @override
    def readline(self) -> bytes:
        return self._counted(super().readline())

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise self.abort(f"the server sent more than {MOST_IMAP_BYTES} bytes")
        return data
