"""Framing: where a request and a reply end, in HTTP and in PostgreSQL's protocol."""

from sweeper.killmatrix.framing import Http, Postgres


def test_an_http_reply_without_length_ends_with_its_connection() -> None:
    """And "100 Continue" is no reply."""
    framing = Http()
    assert not framing.asked(
        b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    )
    assert not framing.answered(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert framing.asked(b"ok")
    assert not framing.answered(b"HTTP/1.0 200 OK\r\n\r\nsome")
    assert not framing.answered(b" more")
    assert framing.answered(b"")
    assert framing.status == "200"


def test_messages_that_arrive_byte_by_byte_are_put_together() -> None:
    """A packet of the network is no message."""
    framing = Postgres()
    framing.opening(b"\0\0\0\x08\0\x03\0\0")
    assert framing.answered(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")
    query = b"Q\0\0\0\x0eSELECT 1;\0"
    assert [framing.asked(query[n : n + 1]) for n in range(len(query))] == [False] * 14 + [True]
    ready = b"C\0\0\0\x05XZ\0\0\0\x05T"
    assert [framing.answered(ready[n : n + 1]) for n in range(len(ready))] == [False] * 11 + [True]
    assert framing.status == "T"
