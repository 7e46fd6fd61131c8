"""The client of n8n: every answer of a real one, and what broken ones say, in plain words."""

import dataclasses
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sweeper.n8n import client
from sweeper.n8n.instances import Instance, InstanceError, known, read
from sweeper.transport import Limits
from tests.support import n8n
from tests.support.n8n import ENDS, KEY, FakeN8n, serving

SECRET = "LANDED_SECRET_N8N_DEFAULT"


@pytest.fixture(params=["2.41", "1.123"])
def fake(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[FakeN8n]:
    """Serve an n8n of each kind, known as `default`."""
    with serving(request.param) as server:
        n8n.register(monkeypatch, settings, default=server.url)
        monkeypatch.setattr(client, "LIMITS", Limits(seconds=0.5, max_bytes=65_536))
        yield server


@pytest.fixture
def instance(fake: FakeN8n) -> Instance:
    """Give its entry."""
    return Instance("default", fake.url)


# -- what a real one says ------------------------------------------------------------------------


@pytest.mark.parametrize("status", [*ENDS, "new", "running", "waiting", "unknown"])
def test_each_status_is_told_as_it_is(fake: FakeN8n, instance: Instance, status: str) -> None:
    """A pause has a stop time, too; the two are judged elsewhere."""
    fake.engine.add(7, status)
    look = client.look(instance, "7")
    paused_or_over = status in (*ENDS, "waiting")
    assert (look.status, look.answered) == (status, True)
    assert look.stopped_at == (
        datetime(2026, 11, 30, 7, 38, 30, 49_000, UTC) if paused_or_over else None
    )


def test_a_status_nobody_knows_is_unknown(fake: FakeN8n, instance: Instance) -> None:
    """A later n8n may have more words; none of them ends a run."""
    fake.engine.add(7, "hibernating", stopped_at=n8n.STOPPED)
    assert client.look(instance, "7").status == "unknown"


@pytest.mark.parametrize("stopped_at", ["yesterday", "2026-11-30T07:38:30", 5])
def test_a_stop_time_that_cannot_be_read_is_no_answer(
    fake: FakeN8n, instance: Instance, stopped_at: Any
) -> None:
    """Half an answer ends nothing."""
    fake.engine.add(7, "success", stopped_at=stopped_at)
    assert client.look(instance, "7").status == "unreachable"


def test_an_execution_that_is_not_there(instance: Instance) -> None:
    """Not saved, pruned, deleted or not shown: nobody knows which."""
    assert client.look(instance, "7").status == "not_found"


@pytest.mark.parametrize(
    "execution_id",
    [
        "abc",
        "0",
        "-1",
        "1.5",
        "7/stop",
        "../workflows",
        "7?x",
        "",
        "9" * 17,
        "\N{ARABIC-INDIC DIGIT SEVEN}",
    ],
)
def test_what_is_no_number_is_never_asked(
    fake: FakeN8n, instance: Instance, execution_id: str
) -> None:
    """An id comes from a workflow and would be part of an address."""
    assert client.look(instance, execution_id).status == "not_found"
    assert fake.engine.asked == []


# -- what is no answer ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (500, "n8n answered 500"),
        (503, "n8n answered 503"),
        ("hang", "no complete answer within 0.5 s"),
        ("drop", "n8n did not answer"),
        ("html", "what answers there is no n8n"),
        ("list", "what answers there is no n8n"),
        ("deep", "what answers there is no n8n"),
        ("other", "what answers there is no n8n"),
        ("huge", "larger than 65536 bytes"),
        ("cut", "broke off"),
        ("redirect", "leads elsewhere (302)"),
        ("no such page", "there is no API of n8n at"),
    ],
)
def test_what_is_not_plainly_an_answer_is_out_of_reach(
    fake: FakeN8n, instance: Instance, fault: str | int, words: str
) -> None:
    """It says why, and nothing else is asked because of it."""
    fake.fault = fault
    look = client.look(instance, "7")
    assert (look.status, look.stopped_at, look.answered) == ("unreachable", None, False)
    assert words in look.reason
    assert len(fake.engine.asked) <= 1


def test_a_key_that_is_refused_or_lacks_a_scope_is_named_and_not_shown(
    fake: FakeN8n, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name of its variable."""
    fake.engine.scopes = {"workflow:list"}
    assert "lacks the scope execution:read (403)" in client.look(instance, "7").reason
    monkeypatch.setenv(SECRET, "wrong")
    refused = client.look(instance, "7")
    assert refused.status == "unreachable"
    assert refused.reason == f"n8n does not take the API key in {SECRET} (401)"


@pytest.mark.parametrize("key", ["hidden\nX: y", "hiddén", "hid den", "hidden\x00"])
def test_no_key_is_ever_told(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, caplog: Any, key: str
) -> None:
    """Neither by what went wrong with it, nor by the instance, nor in a log."""
    caplog.set_level(logging.DEBUG)
    if "\x00" not in key:  # no variable holds that
        monkeypatch.setenv(SECRET, key)
    else:
        monkeypatch.delenv(SECRET)
    told = [client.look(instance, "7"), client.stop(instance, "7"), instance]
    told += [dataclasses.asdict(instance), caplog.text]
    assert "hid" not in repr(told)
    assert SECRET in repr(told)


def test_nobody_listens(instance: Instance) -> None:
    """n8n is down."""
    look = client.look(dataclasses.replace(instance, url="http://127.0.0.1:9"), "7")
    assert (look.status, look.reason[:19]) == ("unreachable", "n8n did not answer:")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://10.0.0.7", "LANDED_PRIVATE_HOSTS names it"),
        ("https://10.0.0.7", "name the host in LANDED_PRIVATE_HOSTS"),
        ("http://user:pw@127.0.0.1", "credentials do not belong into a URL"),
    ],
)
def test_an_address_nobody_allowed_is_not_called(instance: Instance, url: str, words: str) -> None:
    """In words that say what to do."""
    look = client.look(dataclasses.replace(instance, url=url), "7")
    assert look.status == "unreachable"
    assert words in look.reason
    assert "pw" not in look.reason


# -- asking for a stop ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["new", "running", "waiting"])
def test_a_stop_is_taken_where_there_is_one(fake: FakeN8n, instance: Instance, status: str) -> None:
    """An n8n before 2.10 has none, which is told apart from an execution it does not know."""
    fake.engine.add(7, status)
    stop = client.stop(instance, "7")
    if fake.engine.flavour == "1.123":
        assert not stop.taken
        assert "cannot be asked to stop" in stop.words
        assert client.look(instance, "7").status == status
    else:
        assert stop.taken
        assert client.look(instance, "7").status == "canceled"


@pytest.mark.parametrize("fake", ["2.41"], indirect=True)
def test_a_stop_that_is_not_taken_says_why(fake: FakeN8n, instance: Instance) -> None:
    """Over already, unknown, no scope, no answer."""
    fake.engine.add(7, "success")
    told = [client.stop(instance, "7"), client.stop(instance, "8")]
    fake.engine.scopes = {"execution:read"}
    told.append(client.stop(instance, "7"))
    fake.fault = "drop"
    told.append(client.stop(instance, "7"))
    assert [stop.taken for stop in told] == [False] * 4
    for stop, words in zip(
        told,
        ["is currently success", "knows no such", "scope execution:stop", "did not answer"],
        strict=True,
    ):
        assert words in stop.words


# -- which instances there are -------------------------------------------------------------------


def test_instances_are_read_by_name() -> None:
    """Each with a secret of its own."""
    found = read(["default=https://n8n.example.com/", "back-up=http://10.0.0.7:5678/n8n"])
    assert {name: (each.url, each.variable) for name, each in found.items()} == {
        "default": ("https://n8n.example.com", SECRET),
        "back-up": ("http://10.0.0.7:5678/n8n", "LANDED_SECRET_N8N_BACK_UP"),
    }
    assert read([]) == {}


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (["https://user:pw@n8n.example.com"], "entry 1 of LANDED_N8N is not name=https://address"),
        (["a=https://x", "b=ftp://x"], "entry 2"),
        (["=https://x"], "entry 1"),
        (["a=https://x", "a=https://y"], "names a twice"),
        (["a-b=https://x", "a_b=https://y"], "a-b and a_b would share the key"),
    ],
)
def test_what_cannot_be_read_is_refused(entries: list[str], words: str) -> None:
    """With its place, and without what may be a password."""
    with pytest.raises(InstanceError, match=words) as refused:
        read(entries)
    assert "pw" not in str(refused.value)


def test_the_key_is_the_secret_without_what_a_file_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A newline at its end belongs to the file it came from."""
    monkeypatch.setenv(SECRET, f"{KEY}\n")
    assert Instance("default", "https://x").api_key() == KEY


def test_an_n8n_set_up_here_is_known_by_its_files_until_another_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """It may be at a private address; its key is named by its file and never shown."""
    settings.LANDED_N8N, settings.LANDED_N8N_HOME = [], tmp_path
    assert known() == {}
    with serving() as server:
        (tmp_path / "address").write_text(server.url)
        (tmp_path / "api-key").write_text(KEY)
        server.engine.add(7, "success")
        assert client.look(known()["default"], "7").status == "success"
        (tmp_path / "api-key").write_text("secret-and-wrong")
        refused = client.look(known()["default"], "7")
        assert refused.reason == f"n8n does not take the API key in {tmp_path / 'api-key'} (401)"
    settings.LANDED_N8N = ["default=https://n8n.example.com"]
    assert known()["default"].url == "https://n8n.example.com"
