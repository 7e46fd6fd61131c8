"""The demo's provider and relay: the shipped ones, in threads of the process that plays the demo.

Their addresses are registered with the providers, so they are kept and taken again at the next
start. Only one process runs them; a second one uses what runs.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ledger.local import FileLock, state_dir, write_private
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.relay import Relay
from sweeper.killmatrix.server import LoopbackServer, running

HOST = "127.0.0.1"
ANY_PORT = 0


@dataclass(frozen=True, slots=True)
class Lab:
    """Where the mock provider and the relay in front of it listen."""

    provider: str
    relay: str
    is_ours: bool = False


def folder() -> Path:
    """Return where the demo keeps its addresses, the provider's memory and the relay's log."""
    path = state_dir() / "demo"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def known_lab() -> Lab:
    """Return the addresses of this installation; choose them the first time."""
    try:
        return Lab(**json.loads(_note().read_text()))
    except FileNotFoundError:
        return _keep(Lab(_free_address(), _free_address()))


@contextmanager
def running_lab() -> Iterator[Lab]:
    """Run the servers for the length of a block, unless another process does."""
    with ExitStack() as stack:
        lock = FileLock(folder() / "lock")
        stack.callback(lock.close)
        known = known_lab()
        if not lock.take(exclusive=True, wait=False):
            yield known
            return
        provider = stack.enter_context(running(_provider(_port(known.provider))))
        relay = stack.enter_context(running(_relay(_port(known.relay), provider)))
        yield _keep(Lab(provider.url, relay.url, is_ours=True))


def _provider(port: int) -> MockProvider:
    """Open the mock provider, at another port where somebody has taken this one."""
    state = folder() / "effects.jsonl"
    try:
        return MockProvider((HOST, port), state=state)
    except OSError:
        return MockProvider((HOST, ANY_PORT), state=state)


def _relay(port: int, provider: LoopbackServer) -> Relay:
    """Open the relay, at another port where somebody has taken this one."""
    log = folder() / "relay.jsonl"
    try:
        return Relay((HOST, port), provider.url, log=log)
    except OSError:
        return Relay((HOST, ANY_PORT), provider.url, log=log)


def _keep(lab: Lab) -> Lab:
    addresses = {name: value for name, value in asdict(lab).items() if name != "is_ours"}
    write_private(_note(), json.dumps(addresses))
    return lab


def _note() -> Path:
    return folder() / "addresses.json"


def _port(address: str) -> int:
    return urlsplit(address).port or ANY_PORT


def _free_address() -> str:
    with socket.socket() as probe:
        probe.bind((HOST, ANY_PORT))
        return f"http://{HOST}:{probe.getsockname()[1]}"
