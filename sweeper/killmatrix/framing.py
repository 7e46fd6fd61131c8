"""Where a request ends and when its reply is complete: on the wire of PostgreSQL, SMTP and HTTP.

Lives here: reading bytes that pass by. Must not live here: sockets, and what is done with the bytes
(tcp_relay.py). Nothing is checked for sense: what cannot be read is passed on as it is.
"""

import struct
from typing import Protocol

HEAD_END = b"\r\n\r\n"
LINE_END = b"\r\n"

# The codes of PostgreSQL's first packets, which have no type byte.
CANCEL, ENCRYPT_TLS, ENCRYPT_GSS = 80877102, 80877103, 80877104
REFUSED = b"N"
READY = b"Z"
ASKS_FOR_READY = b"SQF"  # Sync, simple query, function call: each is answered by one "ready"
FAREWELL = b"X"


class Framing(Protocol):
    """One connection's exchanges: feed it what passes, it says where a request and a reply end."""

    def opening(self, data: bytes) -> tuple[bytes, bytes]:
        """Take the client's first bytes; return what to answer at once and what to pass on."""

    def asked(self, data: bytes) -> bool:
        """Take bytes of the client; true when the request is whole."""

    def answered(self, data: bytes) -> bool:
        """Take bytes of the upstream; true when the reply is complete. No bytes: it hung up."""

    @property
    def exempt(self) -> bool:
        """Whether what passes now is no exchange: greeting, log-in, farewell."""

    @property
    def status(self) -> str:
        """What the last reply said of itself."""


# -- PostgreSQL --------------------------------------------------------------------------------


class Postgres:
    """The frontend/backend protocol, unencrypted: a reply is complete when the server is ready.

    By then an autocommitted statement is committed. The log-in up to the first "ready" is exempt.
    """

    def __init__(self) -> None:
        """Begin before the first packet."""
        self._client, self._server = _Messages(), _Messages()
        self._opened = False
        self._expected = 1  # the "ready" that ends the log-in
        self.exempt = True
        self.status = ""

    def opening(self, data: bytes) -> tuple[bytes, bytes]:
        """Refuse encryption, which would hide what passes; anything else goes on to the server."""
        if self._opened or len(data) < 8:
            return b"", data
        code = int.from_bytes(data[4:8])
        if code in (ENCRYPT_TLS, ENCRYPT_GSS):
            return REFUSED, data[8:]
        self._opened = True
        return b"", data

    def asked(self, data: bytes) -> bool:
        """Count what asks for a "ready"; the request is whole when the last message did."""
        if self._expected and self.exempt:
            return True  # logging in: packets without or with types, nobody counts them
        kinds = self._client.read(data)
        self.exempt = bool(kinds) and kinds[0][:1] == FAREWELL and not self._expected
        self._expected += sum(kind[:1] in ASKS_FOR_READY for kind in kinds)
        return self._client.at_end and self._expected > 0

    def answered(self, data: bytes) -> bool:
        """See the server become ready as often as it was asked to."""
        for message in self._server.read(data):
            if message[:1] == READY:
                self._expected = max(self._expected - 1, 0)
                self.status = chr(message[1])
        complete = self._expected == 0
        if complete:
            self.exempt = False
        return complete


class _Messages:
    """Cuts a stream into messages: a type, a length, a body."""

    def __init__(self) -> None:
        """Begin at a boundary."""
        self._rest = b""

    @property
    def at_end(self) -> bool:
        """Whether the last message is complete."""
        return not self._rest

    def read(self, data: bytes) -> list[bytes]:
        """Return of each complete message its type and the first byte of its body."""
        self._rest += data
        found, start = [], 0
        while len(self._rest) - start >= 5:
            end = start + 1 + struct.unpack_from("!I", self._rest, start + 1)[0]
            if end > len(self._rest):
                break
            found.append(self._rest[start : start + 1] + (self._rest[start + 5 : end][:1] or b"\0"))
            start = end
        self._rest = self._rest[start:]
        return found


# -- SMTP --------------------------------------------------------------------------------------


class Smtp:
    """SMTP in the clear: a command is a line, a mail ends with a dot, a reply with "code space".

    The server's greeting is exempt. After STARTTLS nothing can be read any more.
    """

    def __init__(self) -> None:
        """Begin before the greeting."""
        self._asked = self._reply = b""
        self._in_mail = False
        self.exempt = True
        self.status = ""

    def opening(self, data: bytes) -> tuple[bytes, bytes]:
        """Pass everything: it is the server who begins."""
        return b"", data

    def asked(self, data: bytes) -> bool:
        """See whether the line, or the mail, is whole."""
        self._asked += data
        if self._in_mail:
            return (LINE_END + self._asked).endswith(LINE_END + b"." + LINE_END)
        return self._asked.endswith(LINE_END)

    def answered(self, data: bytes) -> bool:
        """See whether the last line of the reply is there."""
        self._reply += data
        *_, last, rest = [b"", *self._reply.split(LINE_END)]
        if rest or not last[:3].isdigit() or last[3:4] == b"-":
            return False
        self.status = last[:3].decode("latin-1")
        self._in_mail = self.status == "354"
        self._asked = self._reply = b""
        self.exempt = False
        return True


# -- HTTP --------------------------------------------------------------------------------------


class Http:
    """HTTP/1: a message ends with its Content-Length, its last chunk, or the connection."""

    exempt = False

    def __init__(self) -> None:
        """Begin before the first request."""
        self._request, self._reply = b"", b""
        self._method = b""
        self.status = ""

    def opening(self, data: bytes) -> tuple[bytes, bytes]:
        """HTTP has no greeting."""
        return b"", data

    def asked(self, data: bytes) -> bool:
        """See whether the request is whole; a new one begins after the last reply."""
        self._request += data
        self._method = self._request.partition(b" ")[0]
        return _is_whole(self._request, without_length=True)

    def answered(self, data: bytes) -> bool:
        """See whether the reply is complete."""
        self._reply += data
        while (status := self._reply[9:12]).startswith(b"1") and HEAD_END in self._reply:
            if status == b"101":
                break
            self._reply = self._reply.partition(HEAD_END)[2]  # "100 Continue" is no reply yet
        bodyless = self._method == b"HEAD" or status in (b"204", b"304")
        head_only = bodyless and HEAD_END in self._reply
        if data and not head_only and not _is_whole(self._reply, without_length=False):
            return False
        self.status = status.decode("latin-1")
        complete = HEAD_END in self._reply
        self._request = self._reply = b""
        return complete


def _is_whole(message: bytes, *, without_length: bool) -> bool:
    """Say whether a message has all of its body; ``without_length`` where it does not say."""
    head, blank, body = message.partition(HEAD_END)
    if not blank:
        return False
    fields = dict(_field(line) for line in head.split(LINE_END)[1:])
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        return _has_last_chunk(body)
    length = fields.get(b"content-length", b"")
    return len(body) >= int(length) if length.isdigit() else without_length


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b":")
    return name.strip().lower(), value.strip()


def _has_last_chunk(body: bytes) -> bool:
    """Walk the chunks; true when the empty one is there, with the blank line after it."""
    while True:
        size, end, rest = body.partition(LINE_END)
        digits = size.partition(b";")[0].strip()
        if not end or not digits:
            return False
        length = int(digits, 16)
        if length == 0:
            return rest.startswith(LINE_END) or HEAD_END in rest
        body = rest[length + 2 :]
