"""Servers and name servers that do not play fair, on loopback."""

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@contextmanager
def server(talk: Callable[[socket.socket, bytes], None]) -> Iterator[tuple[str, list[bytes]]]:
    """Run a raw server on loopback that reads one request head and then does as told."""
    heads: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    head = b""
                    while b"\r\n\r\n" not in head and (part := connection.recv(65_536)):
                        head += part
                    heads.append(head)
                    try:
                        talk(connection, head)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", heads
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def say(answer: bytes) -> Callable[[socket.socket, bytes], None]:
    """Answer with fixed bytes."""
    return lambda connection, _: connection.sendall(answer)


def stay_silent(connection: socket.socket, _: bytes) -> None:
    """Accept, read, and never say anything."""
    connection.recv(1)


def drip(prefix: bytes, byte: bytes) -> Callable[[socket.socket, bytes], None]:
    """Send a byte every 50 ms for as long as the other side listens."""

    def talk(connection: socket.socket, _: bytes) -> None:
        connection.sendall(prefix)
        while True:
            connection.sendall(byte)
            time.sleep(0.05)

    return talk


def answer_names(
    monkeypatch: pytest.MonkeyPatch, *answers: list[str]
) -> list[tuple[str, int | None]]:
    """Let the resolver give these addresses, one list per question; return the questions."""
    questions: list[tuple[str, int | None]] = []

    def getaddrinfo(
        host: str, port: int | None, **_: object
    ) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        questions.append((host, port))
        found = answers[min(len(questions), len(answers)) - 1]
        family = {4: socket.AF_INET, 6: socket.AF_INET6}
        return [
            (family[ipaddress.ip_address(text).version], 1, 6, "", (text, port or 0))
            for text in found
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return questions


def flood(connection: socket.socket, _: bytes) -> None:
    """Announce a gigabyte and send as much of it as is taken."""
    connection.sendall(HEAD + b"Content-Length: 1000000000\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65_536)
