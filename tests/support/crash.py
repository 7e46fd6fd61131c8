"""Workers that outlive their database: run as a program with the directory of an installation.

    python -m tests.support.crash keep            restart the private PostgreSQL whenever it is gone
    python -m tests.support.crash work N URL LOG  work as worker N, sending to URL; a SIGTERM lets
                                                  it work off what is queued, a second one end

A worker repeats a call until it hears an answer, as rule 6 of the contract allows, and writes down
every answer it heard. Now and then it falls silent, as if it had died.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

KINDS = {"charge": "charges", "mail": "mail", "hook": "hook"}
LEASE, SETTLE, SWEEP_LEASE, INTERVAL = 5, 3, 5, 1

REGISTER = f"""
INSERT INTO workflows (name) VALUES ('shop');
INSERT INTO providers (name, class, lookup_adapter, lookup_config, settle_seconds, key_ttl_seconds,
    lookup_by_reference, max_attempts, lease_seconds)
VALUES ('charge', 'forced_unique', NULL, '{{}}', {SETTLE}, 86400, false, 50, {LEASE}),
    ('mail', 'advisory_handle', 'webhook', %s, {SETTLE}, NULL, false, 50, {LEASE}),
    ('hook', 'advisory_blind', NULL, '{{}}', {SETTLE}, NULL, false, 50, {LEASE});
INSERT INTO effects (name, workflow, provider) SELECT name, 'shop', name FROM providers
    WHERE name IN ('charge', 'mail', 'hook');
INSERT INTO key_specs (effect, version, fields, canon) SELECT name, 1, '{{id}}', '{{raw}}'
    FROM effects WHERE workflow = 'shop';
UPDATE policies SET value = '{SWEEP_LEASE}' WHERE name = 'sweep_lease_s';
UPDATE policies SET value = '1' WHERE name = 'retry_backoff_s';
"""  # noqa: S608 - constants of this file


def main() -> None:
    """Do what the command line says."""
    stop, leave = threading.Event(), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: (leave if stop.is_set() else stop).set())
    if sys.argv[1] == "keep":
        keep(stop)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "review.settings")
    import django  # noqa: PLC0415 - settings start the private server, the keeper must not

    django.setup()
    number, url, log = sys.argv[2:]
    print("ready", flush=True)  # noqa: T201 - what the test waits for
    worker = Worker(int(number), url, Path(log))
    worker.run(stop)
    while not leave.is_set():
        worker.work_off()
        leave.wait(0.2)


def keep(stop: threading.Event) -> None:
    """Use the private server, and bring it back as any process does that finds it gone."""
    from ledger import embedded  # noqa: PLC0415 - as above
    from ledger.local import SetupError  # noqa: PLC0415

    embedded.ensure()
    print("ready", flush=True)  # noqa: T201 - what the test waits for
    while not stop.wait(0.05):
        if not embedded.is_alive():
            with suppress(SetupError):  # it was killed again while it started
                embedded.ensure()
    embedded.leave()


class Worker:
    """Claims, marks, sends and completes, and falls silent now and then."""

    def __init__(self, number: int, url: str, log: Path) -> None:
        """Open the log."""
        from ledger.operations.base import Caller  # noqa: PLC0415 - needs settings

        self._caller = Caller("shop", worker=f"worker-{number}")
        self._number, self._url = number, url
        self._log = log.open("a", buffering=1)

    def run(self, stop: threading.Event) -> None:
        """Work on events of its own, and on what waits in the queue."""
        from ledger.operations import jobs  # noqa: PLC0415 - needs settings

        n = 0
        while not stop.is_set():
            n += 1
            effect = list(KINDS)[n % len(KINDS)]
            order = {"effect": effect, "event": {"id": f"{self._number}-{n}"}, "payload": {"n": n}}
            token = uuid4()
            if n % 4 == 0:
                self.heard(jobs.enqueue_job, **order)
                job = self.heard(jobs.claim_next_job, owner_token=token, work=["*"])
            else:
                job = self.heard(jobs.claim_job, owner_token=token, lease_seconds=LEASE, **order)
            if job.outcome == "won" and n % 9:
                self.finish(job, silent=n % 7 == 0)

    def work_off(self) -> None:
        """Finish what waits in the queue."""
        from ledger.operations import jobs  # noqa: PLC0415 - needs settings

        while (job := self.heard(jobs.claim_next_job, owner_token=uuid4(), work=["*"])).job_id:
            self.finish(job, silent=False)

    def finish(self, job: Any, *, silent: bool) -> None:
        """Send once the mark is won, and complete; not where the answer of the mark was lost."""
        from ledger.operations import jobs  # noqa: PLC0415 - needs settings

        mine = {"job_id": job.job_id, "owner_token": job.owner_token}
        marked = self.heard(jobs.mark_sending, idem_key=job.idem_key, **mine)
        if marked.outcome != "won":
            return
        self.send(job.idem_key.partition(":")[0], marked)
        if not silent:
            self.heard(jobs.complete_job, result={"sent": job.idem_key}, **mine)

    def heard(self, operation: Callable[..., Any], **argument: Any) -> Any:
        """Call until an answer comes, and write it down before anything is made of it."""
        from ledger.errors import NotRecordedError  # noqa: PLC0415 - needs settings

        while True:
            try:
                answer = operation(self._caller, **argument)
            except NotRecordedError:
                time.sleep(0.05)
                continue
            told = {"job_id": answer.job_id if hasattr(answer, "job_id") else argument["job_id"]}
            self._write({"op": operation.__name__, "outcome": answer.outcome, **told})
            return answer

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._log.write(json.dumps(entry) + "\n")

    def send(self, effect: str, marked: Any) -> None:
        """Ask the provider, which counts."""
        from sweeper.transport import request  # noqa: PLC0415 - needs settings

        body = {"amount": 1, "reference": marked.provider_key, "message_id": marked.handle}
        answer = request(
            "POST",
            f"{self._url}/{KINDS[effect]}",
            headers={"Idempotency-Key": marked.provider_key},
            body=json.dumps(body).encode(),
            allow_private=["127.0.0.1"],
        )
        assert answer.status < 300, answer


if __name__ == "__main__":
    main()
