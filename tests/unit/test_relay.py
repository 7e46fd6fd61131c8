"""The relay: which requests reach the provider, which answers come back, what is written down."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sweeper.errors import ProviderUnavailableError
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.relay import LARGEST_ANSWER, Mode, Relay
from sweeper.killmatrix.server import Handler, LoopbackServer, running
from sweeper.transport import Answer, Limits, request

LOOPBACK = ("127.0.0.1", 0)


@pytest.fixture
def provider() -> Iterator[MockProvider]:
    """Run a mock provider."""
    with running(MockProvider(LOOPBACK)) as server:
        yield server


@pytest.fixture
def relay(provider: MockProvider, tmp_path: Path) -> Iterator[Relay]:
    """Run a relay in front of it."""
    with running(Relay(LOOPBACK, provider.url, log=tmp_path / "relay.jsonl")) as server:
        yield server


def call(
    server: LoopbackServer,
    path: str,
    body: object = None,
    headers: dict[str, str] | None = None,
    method: str = "POST",
    seconds: float = 15,
) -> Answer:
    """Call a server of the crash lab."""
    return request(
        method,
        server.url + path,
        body=None if body is None else json.dumps(body).encode(),
        headers=headers,
        allow_private=["127.0.0.1"],
        limits=Limits(seconds=seconds),
    )


def charge(
    server: LoopbackServer, key: str, mode: str | None = None, seconds: float = 15
) -> Answer:
    """Charge under a key, through a relay in some mode."""
    headers = {"Idempotency-Key": key} | ({"X-Relay-Mode": mode} if mode else {})
    return call(server, "/charges", {"amount": 5, "reference": key}, headers, seconds=seconds)


def total(provider: MockProvider, kind: str = "charges") -> int:
    """Count effects where they happen."""
    return int(provider.effects.counts()[kind]["total"])


def test_forward_and_respond_is_invisible(relay: Relay, provider: MockProvider) -> None:
    """The happy path hands status, headers and body through."""
    first, second = charge(relay, "k1"), charge(relay, "k1")
    assert (first.status, second.status) == (201, 201)
    assert second.headers["idempotent-replayed"] == "true"
    assert second.body == first.body
    assert total(provider) == 1


def test_fail_before_forward_never_reaches_the_provider(
    relay: Relay, provider: MockProvider
) -> None:
    """The caller cannot tell it from a lost answer; the provider saw nothing."""
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError) as caught:
            charge(relay, "k1", "fail-before-forward")
        assert caught.value.sent
    assert total(provider) == 0


@pytest.mark.parametrize("mode", ["forward-then-drop", "forward-then-drop-response"])
def test_forward_then_drop_has_the_effect_and_no_answer(
    relay: Relay, provider: MockProvider, mode: str
) -> None:
    """The ambiguous case, every time; a key makes the repeat harmless."""
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError) as caught:
            charge(relay, "k1", mode)
        assert caught.value.sent
    assert total(provider) == 1


def test_an_answer_that_hangs_is_an_effect_nobody_hears_of(
    relay: Relay, provider: MockProvider
) -> None:
    """The caller gives up; by then the provider has long accepted."""
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError) as caught:
            charge(relay, "k1", "forward-then-hang", seconds=0.3)
        assert caught.value.sent
    assert total(provider) == 1


def test_an_answer_given_twice_is_one_effect_and_answers_nothing_else(
    relay: Relay, provider: MockProvider
) -> None:
    """What comes after the first answer belongs to no request."""
    with socket.create_connection(relay.server_address[:2], timeout=5) as line:
        line.sendall(
            b"POST /hook HTTP/1.1\r\nHost: x\r\nX-Relay-Mode: respond-twice\r\n"
            b'Content-Length: 12\r\n\r\n{"key":"h1"}'
        )
        heard = b"".join(iter(lambda: line.recv(65_536), b""))
    assert heard.count(b"HTTP/1.1 201") == 2
    assert charge(relay, "k1", "respond-twice").status == 201
    assert provider.effects.counts()["hook"]["by_key"] == {"h1": 1}
    assert total(provider) == 1


def test_the_same_call_twice_without_a_key_is_two_effects(
    relay: Relay, provider: MockProvider
) -> None:
    """An advisory key is only a hint: two effects are the correct count."""
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError):
            call(relay, "/hook", {"key": "h1"}, {"X-Relay-Mode": "forward-then-drop"})
    assert provider.effects.counts()["hook"]["by_key"] == {"h1": 2}


def test_every_request_leaves_one_line_before_its_answer(relay: Relay, tmp_path: Path) -> None:
    """The acceptance log says what was asked, what was forwarded and what came back."""
    charge(relay, "k1")
    for mode in ("fail-before-forward", "forward-then-drop"):
        with pytest.raises(ProviderUnavailableError):
            charge(relay, "k2", mode)
    lines = [json.loads(line) for line in (tmp_path / "relay.jsonl").read_text().splitlines()]
    assert [(e["id"], e["mode"], e["key"], e["forwarded"], e["status"]) for e in lines] == [
        (1, "forward-and-respond", "k1", True, 201),
        (2, "fail-before-forward", "k2", False, None),
        (3, "forward-then-drop", "k2", True, 201),
    ]
    assert {(e["method"], e["path"]) for e in lines} == {("POST", "/charges")}
    log = json.loads(call(relay, "/_relay/log", method="GET").body)
    assert log["entries"] == lines


def test_the_mode_can_be_switched_while_it_runs(relay: Relay, provider: MockProvider) -> None:
    """For the next requests only, or for good."""
    call(relay, "/_relay/mode", {"mode": "forward-then-drop", "times": 1})
    with pytest.raises(ProviderUnavailableError):
        charge(relay, "k1")
    assert charge(relay, "k1").status == 201
    call(relay, "/_relay/mode", {"mode": "fail-before-forward"})
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError):
            charge(relay, "k2")
    assert total(provider) == 1


def test_an_unknown_mode_is_refused_and_not_forwarded(relay: Relay, provider: MockProvider) -> None:
    """A typo in a test must not look like the happy path."""
    assert charge(relay, "k1", "forward-and-hang").status == 400
    assert call(relay, "/_relay/mode", {"mode": "x"}).status == 400
    assert call(relay, "/_relay/mode", {"mode": "forward-then-drop", "times": "x"}).status == 400
    assert call(relay, "/_relay/nothing", {}).status == 404
    assert total(provider) == 0


def test_the_control_header_stays_here(relay: Relay, provider: MockProvider) -> None:
    """The upstream sees the caller's headers, not the relay's."""
    seen: list[dict[str, str]] = []

    class Echo(Handler):
        def respond(self, body: bytes) -> None:
            seen.append({name.lower(): value for name, value in self.headers.items()})
            self.answer(200, {})

    with running(LoopbackServer(LOOPBACK, Echo)) as echo, running(Relay(LOOPBACK, echo.url)) as r:
        call(r, "/", {}, {"X-Relay-Mode": "forward-and-respond", "X-Mine": "1"})
    assert seen[0]["x-mine"] == "1"
    assert "x-relay-mode" not in seen[0]


def test_an_upstream_that_is_away_looks_like_a_lost_answer() -> None:
    """The relay answers nothing it did not hear."""
    with running(MockProvider(LOOPBACK)) as gone:
        url = gone.url
    with running(Relay(LOOPBACK, url)) as relay:
        with pytest.raises(ProviderUnavailableError):
            charge(relay, "k1")
        assert "refused" in relay.journal.entries[-1]["error"]
        assert relay.journal.entries[-1]["status"] is None


def test_sizes_are_bounded(relay: Relay) -> None:
    """Too large a request is refused, too large an answer is lost."""
    assert call(relay, "/charges", "x" * 2_000_000).status == 413

    class Huge(Handler):
        def respond(self, body: bytes) -> None:
            self.answer_bytes(200, b"x" * (LARGEST_ANSWER + 1), {})

    with running(LoopbackServer(LOOPBACK, Huge)) as huge, running(Relay(LOOPBACK, huge.url)) as r:
        with pytest.raises(ProviderUnavailableError):
            call(r, "/", {})
        assert "too large" in r.journal.entries[-1]["error"]


def test_only_loopback_can_be_listened_on() -> None:
    """A relay that loses answers is nobody else's business."""
    with pytest.raises(ValueError, match="not a loopback"):
        Relay(("0.0.0.0", 0), "http://127.0.0.1:1")  # noqa: S104
    with pytest.raises(ValueError, match="not an http"):
        Relay(LOOPBACK, "ftp://127.0.0.1")


def test_parallel_requests_get_numbers_of_their_own(relay: Relay) -> None:
    """Twenty callers at once leave twenty lines."""
    threads = [threading.Thread(target=charge, args=(relay, f"k{n}")) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [entry["id"] for entry in relay.journal.entries]
    assert sorted(numbers) == list(range(1, 21))


def test_a_restarted_relay_goes_on_counting(provider: MockProvider, tmp_path: Path) -> None:
    """A line cut off by a kill is dropped, the numbers continue."""
    log = tmp_path / "relay.jsonl"
    with running(Relay(LOOPBACK, provider.url, log=log)) as relay:
        charge(relay, "k1")
    with log.open("a") as file:
        file.write('{"id": 2, "cut off')
    with running(Relay(LOOPBACK, provider.url, mode=Mode.FORWARD_AND_RESPOND, log=log)) as relay:
        charge(relay, "k2")
    assert [json.loads(line)["id"] for line in log.read_text().splitlines()] == [1, 2]
