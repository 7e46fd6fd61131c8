"""The mock provider: the semantics of its keys, its search, its counts and its memory."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sweeper.killmatrix.effects import Effects, Fault
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import Journal, Refused, running
from sweeper.transport import Answer, request

LOOPBACK = ("127.0.0.1", 0)


@pytest.fixture
def provider() -> Iterator[MockProvider]:
    """Run a mock provider."""
    with running(MockProvider(LOOPBACK)) as server:
        yield server


def call(
    provider: MockProvider,
    path: str,
    body: object = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """Post a body, or get."""
    return request(
        "GET" if body is None else "POST",
        provider.url + path,
        body=None if body is None else json.dumps(body).encode(),
        headers=headers,
        allow_private=["127.0.0.1"],
    )


def charge(provider: MockProvider, key: str | None, amount: int = 5, delay: str = "0") -> Answer:
    """Charge an amount under a key, taking some seconds."""
    headers = {"X-Mock-Delay": delay}
    if key is not None:
        headers["Idempotency-Key"] = key
    return call(provider, "/charges", {"amount": amount, "reference": key or "-"}, headers)


def effects(provider: MockProvider) -> dict[str, Any]:
    """Read the counts over HTTP."""
    return dict(json.loads(call(provider, "/effects").body))


def test_a_key_is_replayed_with_status_and_body(provider: MockProvider) -> None:
    """The second request has no effect and gets the first one's answer, marked as such."""
    first, second = charge(provider, "k1"), charge(provider, "k1")
    assert (first.status, first.body) == (second.status, second.body)
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert effects(provider)["charges"] == {"total": 1, "by_key": {"k1": 1}}


def test_without_a_key_every_request_is_an_effect(provider: MockProvider) -> None:
    """Nothing can be unique that carries no key."""
    for _ in range(2):
        charge(provider, None)
    assert effects(provider)["charges"]["total"] == 2


def test_other_parameters_under_the_same_key_are_an_error(provider: MockProvider) -> None:
    """A key belongs to one request; the mismatch is not stored and nothing happens."""
    charge(provider, "k1", amount=5)
    mismatch = charge(provider, "k1", amount=6)
    assert mismatch.status == 400
    assert json.loads(mismatch.body)["error"]["type"] == "idempotency_error"
    assert charge(provider, "k1", amount=5).status == 201
    assert effects(provider)["charges"]["total"] == 1


@pytest.mark.parametrize(("after_effect", "count"), [(False, 0), (True, 1)])
def test_an_error_of_the_server_is_stored_too(
    provider: MockProvider, after_effect: bool, count: int
) -> None:
    """A 500 is replayed as long as the key lives, whether the effect happened or not."""
    call(provider, "/_mock/fail", {"status": 500, "after_effect": after_effect})
    answers = [charge(provider, "k1") for _ in range(3)]
    assert [answer.status for answer in answers] == [500, 500, 500]
    assert answers[2].headers["idempotent-replayed"] == "true"
    assert effects(provider)["charges"]["total"] == count


def test_what_fails_validation_is_not_stored(provider: MockProvider) -> None:
    """A refused request leaves the key free."""
    headers = {"Idempotency-Key": "k1"}
    assert call(provider, "/charges", {"amount": "much"}, headers).status == 400
    assert charge(provider, "k1").status == 201


def test_a_key_under_way_answers_conflict(provider: MockProvider) -> None:
    """A second request while the first still runs is turned away and has no effect."""
    answers: list[Answer] = []
    slow = threading.Thread(target=lambda: answers.append(charge(provider, "k1", delay="1")))
    slow.start()
    while "k1" not in provider.effects._keys:
        threading.Event().wait(0.005)
    assert charge(provider, "k1").status == 409
    slow.join()
    assert answers[0].status == 201
    assert effects(provider)["charges"]["total"] == 1


def test_a_key_is_forgotten_after_its_lifetime() -> None:
    """Past the lifetime the same key is a new effect: that is why it has to be known."""
    now = [1_000.0]
    memory = Effects(Journal(), key_lifetime=60, clock=lambda: now[0])
    memory.charge("k1", b"{}", {"amount": 1})
    now[0] += 59
    assert memory.charge("k1", b"{}", {"amount": 1}).replayed
    now[0] += 1
    assert not memory.charge("k1", b"{}", {"amount": 1}).replayed
    assert memory.counts()["charges"]["by_key"] == {"k1": 2}


def test_charges_are_found_by_reference_and_mail_by_message_id(provider: MockProvider) -> None:
    """The look-ups are exact, and empty is a complete answer."""
    charge(provider, "k1")
    call(provider, "/mail", {"message_id": "<m1@landed>", "to": "a@example.com"})
    charges = json.loads(call(provider, "/charges?reference=k1").body)
    mails = json.loads(call(provider, "/mail?message_id=%3Cm1%40landed%3E").body)
    assert [item["reference"] for item in charges["data"]] == ["k1"]
    assert [item["to"] for item in mails["data"]] == ["a@example.com"]
    assert json.loads(call(provider, "/mail?message_id=m1").body) == {"data": [], "has_more": False}
    assert call(provider, "/mail").status == 400


def test_the_same_mail_twice_is_two_mails(provider: MockProvider) -> None:
    """A Message-ID enforces nothing."""
    for _ in range(2):
        call(provider, "/mail", {"message_id": "<m1@landed>"})
    assert effects(provider)["mail"] == {"total": 2, "by_key": {"<m1@landed>": 2}}


def test_the_index_may_lag_behind() -> None:
    """Not found is not the same as not there."""
    now = [1_000.0]
    memory = Effects(Journal(), index_delay=10, clock=lambda: now[0])
    memory.effect("mail", "<m1>", {"message_id": "<m1>"})
    assert memory.search("mail", "message_id", "<m1>") == []
    now[0] += 10
    assert len(memory.search("mail", "message_id", "<m1>")) == 1


def test_hooks_are_counted_by_what_identifies_them(provider: MockProvider) -> None:
    """A header, a member named key, or the body itself."""
    call(provider, "/hook", {"a": 1}, {"Idempotency-Key": "h1"})
    call(provider, "/hook", {"key": "h2"})
    call(provider, "/hook", {"a": 1})
    call(provider, "/hook", {"a": 1})
    assert sorted(effects(provider)["hook"]["by_key"].values()) == [1, 1, 2]


def test_a_restart_keeps_counts_keys_and_log(tmp_path: Path) -> None:
    """What was accepted stays accepted; a line cut off by a kill was never answered."""
    state = tmp_path / "state.jsonl"
    with running(MockProvider(LOOPBACK, state=state)) as provider:
        before = charge(provider, "k1")
        call(provider, "/mail", {"message_id": "<m1@landed>"})
    with state.open("a") as file:
        file.write('{"kind": "charges", "key": "k2", "cut')
    with running(MockProvider(LOOPBACK, state=state)) as provider:
        assert effects(provider)["charges"]["total"] == 1
        again = charge(provider, "k1")
        assert (again.body, again.headers["idempotent-replayed"]) == (before.body, "true")
        found = json.loads(call(provider, "/mail?message_id=%3Cm1%40landed%3E").body)
        assert len(found["data"]) == 1
        assert json.loads(charge(provider, "k3").body)["id"] != json.loads(before.body)["id"]


def test_it_says_that_it_is_a_mock(provider: MockProvider) -> None:
    """Mock results are reported as mock results."""
    assert effects(provider)["provider"] == "mock"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/charges", [], 400),
        ("/charges", {"amount": None}, 400),
        ("/mail", {"message_id": ""}, 400),
        ("/nowhere", {}, 404),
        ("/_mock/fail", {"status": 200}, 400),
    ],
)
def test_bad_requests_get_a_sentence(
    provider: MockProvider, path: str, body: object, status: int
) -> None:
    """Every refusal is a 4xx with words, and no effect."""
    answer = call(provider, path, body)
    assert answer.status == status
    assert json.loads(answer.body)["error"]["message"]
    assert effects(provider)["charges"]["total"] == 0


def test_a_body_that_is_not_json_is_refused(provider: MockProvider) -> None:
    """Neither nonsense nor endless nesting breaks the server."""
    for body in (b"{", b"\xff\xfe", b"[" * 100_000):
        answer = request("POST", provider.url + "/charges", body=body, allow_private=["127.0.0.1"])
        assert answer.status == 400


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full mock refuses; a refused charge leaves its key free."""
    monkeypatch.setattr("sweeper.killmatrix.effects.MOST_EFFECTS", 1)
    memory = Effects(Journal())
    memory.charge("k1", b"{}", {"amount": 1})
    with pytest.raises(Refused, match="full"):
        memory.charge("k2", b"{}", {"amount": 1})
    monkeypatch.setattr("sweeper.killmatrix.effects.MOST_EFFECTS", 2)
    assert memory.charge("k2", b"{}", {"amount": 1}).status == 201


def test_a_fault_is_used_up() -> None:
    """Only the requests it was meant for fail."""
    memory = Effects(Journal())
    memory.fail_next(Fault(503), 1)
    assert memory.effect("hook", "h1", {}).status == 503
    assert memory.effect("hook", "h1", {}).status == 201
    assert memory.counts()["hook"]["total"] == 1
