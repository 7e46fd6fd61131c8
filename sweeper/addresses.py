"""Which addresses may be called, and the connection to exactly those.

A provider's address comes from configuration that people edit, so it is treated as hostile: a
name is resolved once, every address it gives is judged, and the connection is made to one of
exactly these addresses, so a second answer of the resolver changes nothing.
"""

import ipaddress
import queue
import socket
import threading
import time
from collections.abc import Collection

from sweeper.errors import ProviderRejectedError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# A name may have many addresses; after a few refused connections the call is over anyway.
ADDRESSES_TRIED = 4
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
# Addresses that embed an IPv4 address: it is the embedded one that is reached.
NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Deadline:
    """A point on the monotonic clock that the whole call shares."""

    def __init__(self, seconds: float) -> None:
        """Start the clock."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the remaining seconds, or stop the call."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"no complete answer within {self.seconds:g} s")
        return left


def is_allowed(host: str, port: int, allow_private: Collection[str]) -> bool:
    """Say whether an operator has named this host, or this host and port, as their own."""
    return host in allow_private or f"{host}:{port}" in allow_private


def connect(
    host: str, port: int, deadline: Deadline, allow_private: Collection[str] = ()
) -> socket.socket:
    """Resolve once, judge every address, and connect to one of exactly these addresses."""
    failure: OSError | None = None
    for address in resolve(host, port, deadline, allow_private)[:ADDRESSES_TRIED]:
        connection = socket.socket(FAMILIES[address.version], socket.SOCK_STREAM)
        try:
            connection.settimeout(deadline.left())
            connection.connect((str(address), port))
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise ConnectionError(f"no connection to {host}:{port}: {failure}")


def resolve(
    host: str, port: int, deadline: Deadline, allow_private: Collection[str] = ()
) -> list[IPAddress]:
    """Return the addresses of a host; one bad address refuses the whole name."""
    addresses = list(dict.fromkeys(_look_up_name(host, port, deadline)))
    allowed = is_allowed(host, port, allow_private)
    for address in addresses:
        if not _may_be_called(address, allowed=allowed):
            hint = "; name the host in allow_private if it is yours"
            if allowed:
                hint = "; link-local and multicast addresses are never called, allowed or not"
            raise ProviderRejectedError(
                f"{host} is at {address}, which is not a public address{hint}"
            )
    return addresses


def _look_up_name(host: str, port: int, deadline: Deadline) -> list[IPAddress]:
    """Ask the resolver in a thread, since nothing else can bound how long it takes."""
    answers: queue.SimpleQueue[list[str] | OSError | UnicodeError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put([str(entry[4][0]) for entry in found])
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left())
    except queue.Empty as error:
        raise TimeoutError(f"{host} was not resolved within {deadline.seconds:g} s") from error
    if isinstance(answer, Exception):
        raise ConnectionError(f"{host} cannot be resolved: {answer}") from answer
    return [ipaddress.ip_address(text.partition("%")[0]) for text in answer]


def _may_be_called(address: IPAddress, *, allowed: bool) -> bool:
    """Judge one address, and the IPv4 address inside it if there is one."""
    if isinstance(address, ipaddress.IPv6Address):
        embedded = address.ipv4_mapped or address.sixtofour
        if embedded is None and address in NAT64:
            embedded = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if embedded is not None:
            return _may_be_called(embedded, allowed=allowed)
        if address.teredo is not None:
            return False
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False  # link-local holds the metadata services of clouds: never, not even allowed
    if allowed:
        return True
    return address.is_global and not address.is_reserved
