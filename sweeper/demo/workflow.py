"""A workflow as n8n runs it: a token, the HTTP door, and a provider at the other end of the relay.

Nothing here touches the database. An execution whose answer gets lost is dead: it makes no further
call, exactly like a worker whose machine went away.
"""

import itertools
import time
from collections.abc import Mapping
from typing import Any, Self

import httpx2

from sweeper.demo.effects import EFFECTS
from sweeper.errors import SweeperError
from sweeper.killmatrix.relay import MODE_HEADER, Mode

Row = dict[str, Any]

# As long as the slowest answer of either side may take on a busy machine.
CALL_SECONDS = 20.0
LOOK_SECONDS = 0.25

_EXECUTIONS = itertools.count(int(time.time()) % 900_000 + 100_000)


class DemoError(SweeperError):
    """The demo cannot go on; the message tells a person why."""


def wait_for_console(address: str, patience: float) -> None:
    """Wait until something answers at the console's address."""
    until = time.monotonic() + patience
    with httpx2.Client(trust_env=False, timeout=CALL_SECONDS) as http:
        while True:
            try:
                http.get(f"{address}/api/v1/openapi.json", headers=BEHIND_TLS)
            except httpx2.TransportError as error:
                if time.monotonic() > until:
                    raise DemoError(
                        f"nothing answers at {address} ({error}); start it with "
                        "`python3 manage.py up`, or name another address with --base-url"
                    ) from error
                time.sleep(LOOK_SECONDS)
            else:
                return


# As the proxy in front would say it, where there is one.
BEHIND_TLS = {"X-Forwarded-Proto": "https"}


class Workflow:
    """One of the demo's workflows; every method is what one of its executions does."""

    def __init__(self, name: str, token: str, console: str, relay: str) -> None:
        """Open the two ways out; no proxy of this machine stands in them."""
        headers = {"Authorization": f"Bearer {token}", **BEHIND_TLS}
        self.name = name
        self._execution = next(_EXECUTIONS)
        self._console = httpx2.Client(
            base_url=f"{console}/api/v1", headers=headers, timeout=CALL_SECONDS, trust_env=False
        )
        self._relay = httpx2.Client(base_url=relay, timeout=CALL_SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        """Give the workflow for a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close both ways out."""
        self._console.close()
        self._relay.close()

    # -- records -----------------------------------------------------------------------------------

    def read(self, record_key: str) -> int:
        """Start an execution that reads a customer; return the revision its write must name."""
        self._execution = next(_EXECUTIONS)
        return int(self.call("GET", f"/records/customers/{record_key}")["revision"])

    def write(
        self, record_key: str, revision: int, event: Mapping[str, Any], **changes: Any
    ) -> Row:
        """Write fields of a customer, as read at that revision."""
        return self.call(
            "PATCH",
            f"/records/customers/{record_key}",
            expected_revision=revision,
            changes=changes,
            event=event,
        )

    def change(self, record_key: str, event: Mapping[str, Any], **changes: Any) -> Row:
        """Read a customer and write fields of it, with nobody in between."""
        return self.write(record_key, self.read(record_key), event, **changes)

    # -- effects -----------------------------------------------------------------------------------

    def deliver(
        self,
        effect: str,
        event: Mapping[str, Any],
        payload: Mapping[str, Any],
        mode: Mode = Mode.FORWARD_AND_RESPOND,
    ) -> Row:
        """Start an execution that claims and sends, once; return what the claim answered."""
        self._execution = next(_EXECUTIONS)
        job = self.call("POST", "/jobs/claim", effect=effect, event=event, payload=payload)
        if job["outcome"] == "won":
            self._send_once(effect, job, payload, mode)
        return job

    def enqueue(self, effect: str, event: Mapping[str, Any], payload: Mapping[str, Any]) -> Row:
        """Start an execution that leaves the effect to whoever works the queue."""
        self._execution = next(_EXECUTIONS)
        return self.call("POST", "/jobs", effect=effect, event=event, payload=payload)

    def work_off(self, effect: str) -> int:
        """Start an execution that works the queue of an effect until it is empty."""
        self._execution = next(_EXECUTIONS)
        done = 0
        while (job := self.call("POST", "/jobs/claim-next", effect=effect))["outcome"] == "won":
            self._send_once(effect, job, job["payload"])
            done += 1
        return done

    def is_done(self, effect: str, event: Mapping[str, Any]) -> bool:
        """Say whether an event's effect has happened already."""
        found = self.call("POST", "/keys/lookup", effect=effect, event=event)
        return bool(found.get("status") == "done")

    def _send_once(
        self,
        effect: str,
        job: Row,
        payload: Mapping[str, Any],
        mode: Mode = Mode.FORWARD_AND_RESPOND,
    ) -> None:
        """Mark, send, bring the receipt and complete; die where the answer is lost."""
        holder = {"owner_token": job["owner_token"]}
        place = f"/jobs/{job['job_id']}"
        marked = self.call("POST", f"{place}/mark-sending", **holder, idem_key=job["idem_key"])
        if marked["outcome"] != "won":
            return
        what = EFFECTS[effect]
        try:
            answer = self._relay.post(
                what.path,
                json={what.member: marked[what.identity], **payload},
                headers={"Idempotency-Key": marked["provider_key"], MODE_HEADER: mode.value},
            )
        except httpx2.TransportError:
            return
        result, status = answer.json(), answer.status_code
        self.call("POST", f"{place}/receipt", **holder, provider_ref=result["id"])
        self.call("POST", f"{place}/complete", **holder, result=result, http_status=status)

    # -- the door ----------------------------------------------------------------------------------

    def call(self, method: str, path: str, **members: Any) -> Row:
        """Call an operation; its row comes back whatever the outcome is."""
        if method != "GET":
            members |= {
                "workflow_version": "1",
                "execution_id": str(self._execution),
                "worker": "n8n-1",
            }
        try:
            response = self._console.request(method, path, json=members or None)
        except httpx2.TransportError as error:
            raise DemoError(f"{self.name}: {method} {path} got no answer: {error}") from error
        try:
            answer = response.json()
        except ValueError:
            answer = {}
        row: Row = answer.get("row", answer)
        if "outcome" not in row:
            said = answer.get("detail") or response.reason_phrase
            raise DemoError(f"{self.name}: {method} {path} answered {response.status_code}: {said}")
        return row
