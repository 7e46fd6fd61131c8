"""A job that a workflow is woken for: called at least once, and one effect because of the claim."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, override

import psycopg
import pytest
from django.conf import LazySettings

from ledger.models import Job, OutboxMessage
from ledger.operations.base import Caller
from ledger.operations.jobs import claim_job, complete_job
from sweeper import outbox
from sweeper.killmatrix.server import Handler, LoopbackServer, running
from tests.support.doors import PythonDoor
from tests.support.factories import FORCED, SHOP, Shop

pytestmark = pytest.mark.django_db(transaction=True)


class Sleeper(LoopbackServer):
    """n8n with one workflow: it keeps what it was sent, and may lose its answer."""

    def __init__(self) -> None:
        """Begin asleep."""
        self.heard: list[bytes] = []
        self.status = HTTPStatus.OK
        super().__init__(("127.0.0.1", 0), _Webhook)

    def work(self) -> list[str]:
        """Run the workflow once for each call, as n8n does; return what its claims heard."""
        outcomes = []
        for number, body in enumerate(self.heard):
            told: dict[str, Any] = json.loads(body)
            claim = claim_job(
                Caller(SHOP, execution_id=str(number)),
                effect=told["effect"],
                event=told["event"],
                payload=told["payload"],
                effect_version=told["effect_version"],
            )
            outcomes.append(claim.outcome)
            if claim.outcome == "won" and claim.owner_token is not None:
                complete_job(
                    Caller(SHOP, execution_id=str(number)),
                    job_id=str(claim.job_id),
                    owner_token=claim.owner_token,
                    result={"ok": True},
                )
        return outcomes


class _Webhook(Handler):
    server: Sleeper

    @override
    def respond(self, body: bytes) -> None:
        """Answer as n8n's webhook node does."""
        self.server.heard.append(body)
        self.answer(self.server.status, {"message": "Workflow was started"})


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    """Run n8n."""
    with running(Sleeper()) as server:
        yield server


@pytest.fixture
def shop(owner_sql: psycopg.Connection, sleeper: Sleeper, settings: LazySettings) -> Shop:
    """Let the shop's charge be delivered by waking its workflow."""
    settings.LANDED_PRIVATE_HOSTS = ["127.0.0.1"]
    shop = Shop(PythonDoor(), owner_sql)
    shop.owner.execute(
        "UPDATE effects SET delivery = 'wake_webhook', wake_url = %s WHERE name = %s",
        [f"{sleeper.url}/webhook/paid", FORCED],
    )
    return shop


def put(shop: Shop) -> str:
    """Enqueue a charge whose numbers no parser may touch."""
    enqueued = shop.run(
        "enqueue_job", effect=FORCED, event={"id": "7"}, payload={"amount": 12.5, "n": [1, None]}
    )
    assert enqueued.outcome == "inserted"
    return str(enqueued.job_id)


def relay(shop: Shop) -> dict[str, int]:
    """Run the tick of the outbox with everything due."""
    shop.owner.execute("UPDATE outbox SET next_attempt_at = now() - interval '1 s'")
    done = outbox.run_once()
    assert done.report is not None
    return {name: value for name, value in done.report.as_json().items() if value}


def test_a_queued_job_wakes_its_workflow_which_claims_it(shop: Shop, sleeper: Sleeper) -> None:
    """It gets all that a claim needs; what it claims is the queued job."""
    job_id = put(shop)
    assert relay(shop) == {"delivered": 1}
    (body,) = sleeper.heard
    told = json.loads(body)
    assert (told["topic"], told["job_id"], told["effect"]) == ("job.queued", job_id, FORCED)
    assert told["event"] == {"id": "7"}
    assert b'"amount": 12.5' in body
    assert sleeper.work() == ["won"]
    assert Job.objects.get(id=job_id).state == "done"


def test_called_twice_it_is_still_one_effect(shop: Shop, sleeper: Sleeper) -> None:
    """The relay died after its call: it calls again, and the second claim replays."""
    put(shop)
    relay(shop)
    shop.owner.execute("UPDATE outbox SET published_at = NULL")
    assert relay(shop) == {"delivered": 1}
    assert len(sleeper.heard) == 2
    assert sleeper.work() == ["won", "replay"]


def test_a_call_that_is_not_taken_is_made_again(shop: Shop, sleeper: Sleeper) -> None:
    """The workflow is not active: the message waits, and its error says what to do."""
    put(shop)
    sleeper.status = HTTPStatus.NOT_FOUND
    assert relay(shop) == {"failed": 1}
    message = OutboxMessage.objects.get(topic="job.queued")
    assert "is the workflow active?" in str(message.last_error)
    sleeper.status = HTTPStatus.OK
    assert relay(shop) == {"delivered": 1}


@pytest.mark.parametrize("change", ["claimed", "another delivery"])
def test_a_job_that_no_longer_waits_wakes_nobody(shop: Shop, sleeper: Sleeper, change: str) -> None:
    """The message came too late, and that is no failure."""
    put(shop)
    if change == "claimed":
        claim_job(
            Caller(SHOP, execution_id="9"),
            effect=FORCED,
            event={"id": "7"},
            payload={"amount": 12.5, "n": [1, None]},
        )
    else:
        shop.owner.execute("UPDATE effects SET wake_url = NULL")
    assert relay(shop) == {"unsubscribed": 1}
    assert sleeper.heard == []
