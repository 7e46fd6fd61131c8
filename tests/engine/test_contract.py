"""What the reconciler relies on in n8n's API, held against the fake n8n and the real one.

A difference is a fault of the fake, which all other tests of the reconciler believe.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from sweeper.n8n import client
from tests.support.engine import Gate
from tests.support.n8n import serving
from tests.support.stages import SITUATIONS, UNKNOWN, FakeStage, RealStage, Stage

pytestmark = pytest.mark.django_db(transaction=True)

MEMBERS = {
    "id": str,
    "finished": bool,
    "mode": str,
    "retryOf": None,
    "retrySuccessId": None,
    "status": str,
    "createdAt": str,
    "startedAt": str,
    "stoppedAt": (str, None),
    "deletedAt": None,
    "workflowId": str,
    "waitTill": (str, None),
    "storedAt": str,
    "tracingContext": None,
    "deduplicationKey": None,
    "jsonSizeBytes": int,
    "binaryDataSizeBytes": int,
    "workflowVersionId": str,
    "usedPrivateCredentials": bool,
}
"""All that n8n says of one execution, and as what."""

LOOKS = {
    "running": ("running", False, False),
    "after a pause": ("running", True, False),
    "waiting": ("waiting", True, True),
    "success": ("success", True, False),
    "error": ("error", True, False),
    "canceled": ("canceled", True, False),
}
"""The word, whether a stop time stands there, and whether a time to go on."""


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest, monkeypatch: Any, settings: Any) -> Iterator[Stage]:
    """Give the fake and the real one in turn."""
    settings.LANDED_PRIVATE_HOSTS = ["127.0.0.1"]
    if request.param == "fake":
        with serving() as fake:
            yield FakeStage(fake, monkeypatch, settings)
        return
    real, gate = request.getfixturevalue("n8n"), request.getfixturevalue("gate")
    assert isinstance(gate, Gate)
    prefix = request.node.originalname.removeprefix("test_")[:30]
    yield RealStage(real, gate, prefix, monkeypatch)


def test_what_is_said_of_each_execution(stage: Stage) -> None:
    """The word, the times and nothing unknown; and the client reads it so."""
    key = stage.key()
    for situation in SITUATIONS:
        execution = stage.execution(situation)
        status, said = stage.ask("GET", f"executions/{execution}", key)
        assert status == 200, situation
        assert said.keys() == MEMBERS.keys(), situation
        for name, kinds in MEMBERS.items():
            allowed = kinds if isinstance(kinds, tuple) else (kinds,)
            kind = None if said[name] is None else type(said[name])
            assert kind in allowed, (situation, name, said[name])
        word, stopped, goes_on = LOOKS[situation]
        told = (said["status"], said["stoppedAt"] is not None, said["waitTill"] is not None)
        assert told == (word, stopped, goes_on), situation
        assert (said["id"], said["finished"]) == (execution, word == "success")
        look = client.look(stage.instance(key), execution)
        assert (look.status, look.answered, look.stopped_at is not None) == (word, True, stopped)
        if look.stopped_at:
            assert look.stopped_at == datetime.fromisoformat(said["stoppedAt"])


def test_an_execution_that_is_not_known(stage: Stage) -> None:
    """Whether it never was, was not kept or was deleted: one answer, and no stop."""
    key = stage.key()
    for situation in UNKNOWN:
        execution = stage.execution(situation)
        missing = stage.ask("GET", f"executions/{execution}", key)
        assert missing == (404, {"message": "Not Found"}), situation
        status, said = stage.ask("POST", f"executions/{execution}/stop", key)
        assert (status, said) == (404, {"message": "Failed to find execution to stop"})
        instance = stage.instance(key)
        assert client.look(instance, execution).status == "not_found"
        assert client.stop(instance, execution).words == "n8n knows no such execution"


@pytest.mark.parametrize("number", ["abc", "0", "3c604304-ac36-4fd1-97ca-816214281fba"])
def test_what_is_no_number(stage: Stage, number: str) -> None:
    """It is not asked by the client; n8n says what is wrong with it."""
    wrong = {"message": "request/params/executionId must be a positive integer"}
    assert stage.ask("GET", f"executions/{number}", stage.key()) == (400, wrong)


def test_a_key_that_is_not_known_or_may_not(stage: Stage) -> None:
    """In this order: who asks, what may be asked, and only then of what."""
    refused = {"message": "Unauthorized"}
    for method, path in (("GET", "executions/999999"), ("POST", "executions/999999/stop")):
        assert stage.ask(method, path, "no-such-key") == (401, refused)
    key = stage.key("execution:read")
    assert stage.ask("GET", "executions/999999", key) == (404, {"message": "Not Found"})
    assert stage.ask("POST", "executions/999999/stop", key) == (403, {"message": "Forbidden"})
    assert "lacks the scope execution:stop" in client.stop(stage.instance(key), "999999").words
    key = stage.key("execution:stop")
    assert stage.ask("GET", "executions/999999", key) == (403, {"message": "Forbidden"})
    assert "lacks the scope execution:read" in client.look(stage.instance(key), "999999").reason
    assert "(401)" in client.look(stage.instance("no-such-key"), "999999").reason


def test_a_stop(stage: Stage) -> None:
    """Of what runs or waits it is taken, and seen at the next look; of what is over it is not."""
    key = stage.key()
    for situation in ("running", "waiting"):
        execution = stage.execution(situation)
        status, said = stage.ask("POST", f"executions/{execution}/stop", key)
        assert status == 200
        assert said.keys() == {"mode", "startedAt", "stoppedAt", "finished", "status"}
        assert (said["status"], said["finished"]) == ("canceled", False)
        look = client.look(stage.instance(key), execution)
        assert (look.status, look.stopped_at is not None) == ("canceled", True)
    for situation in ("success", "error"):
        execution = stage.execution(situation)
        status, said = stage.ask("POST", f"executions/{execution}/stop", key)
        only = "Only running or waiting executions can be stopped"
        words = f"{only} and {execution} is currently {situation}"
        assert (status, said) == (409, {"message": words})
        stop = client.stop(stage.instance(key), execution)
        assert (stop.taken, stop.words) == (False, f"n8n has nothing to stop: {words}")
