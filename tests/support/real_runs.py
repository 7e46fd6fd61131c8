"""Runs of a real n8n: a workflow of the crash lab that claims, sends and waits at a gate.

It claims through the SQL door, says that a run began, marks, sends to the mock provider, and then
waits where a test lets happen what it wants. Effects are counted at the provider.
"""

from uuid import uuid4

from ledger.models import Job, Run
from tests.support import workflows
from tests.support.engine import Gate, RealN8n
from tests.support.lab import KINDS, Claim, Lab
from tests.support.workflows import Node, guarded

BODY = "$('Begin').item.json.body"
CALLER = "workflow: 'shop', execution_id: $execution.id"
JOB = "job_id: $('Claim').item.json.job_id, owner_token: $('Claim').item.json.owner_token"


def opening() -> list[Node]:
    """Claim, and say that a run began; what n8n's splitter takes for its own end is kept apart."""
    what = f"effect: {BODY}.effect, event: {{ id: {BODY}.run }}, payload: {{ amount: 1 }}"
    return [
        guarded("Claim", "claim_job", f"{{ {CALLER}, {what} }}"),
        guarded("Run", "start_run", f"{{ {CALLER}, run_id: {BODY}.run, deadline_seconds: 600 }}"),
        guarded(
            "Mark",
            "mark_sending",
            f"{{ {CALLER}, {JOB}, idem_key: $('Claim').item.json.idem_key }}",
        ),
    ]


def closing() -> list[Node]:
    """Store the result, and say that the run is over."""
    done = f"{CALLER}, {JOB}, result: {{ ok: true }}"
    return [
        guarded("Complete", "complete_job", f"{{ {done} }}"),
        guarded(
            "End", "complete_run", f"{{ {CALLER}, run_id: {BODY}.run, result: {{ ok: true }} }}"
        ),
    ]


def send(lab: Lab) -> Node:
    """Send to the mock provider what the effect's driver would."""
    marked = "$('Mark').item.json"
    names = f"reference: {marked}.provider_key, message_id: {marked}.handle"
    return workflows.http(
        "Send",
        f"={lab.provider.url}/{{{{ {BODY}.kind }}}}",
        f"{{ amount: 1, {names}, key: {marked}.provider_key }}",
        {"Idempotency-Key": f"={{{{ {marked}.provider_key }}}}"},
    )


def hold(gate: Gate) -> Node:
    """Wait at the gate under the run's name."""
    return workflows.http("Hold", f"={gate.url}/hold/{{{{ {BODY}.run }}}}")


class Begun:
    """A run that the real n8n works on."""

    def __init__(self, n8n: RealN8n, lab: Lab, path: str, effect: str) -> None:
        """Deliver an event."""
        self.id, self._lab, self._n8n, self._effect = uuid4(), lab, n8n, effect
        said = n8n.begin(path, {"run": str(self.id), "effect": effect, "kind": KINDS[effect]})
        self.execution, self.resume = said["execution"], said["resume"]

    @property
    def row(self) -> Run:
        """Read the run."""
        return Run.objects.get(id=self.id)

    @property
    def stands(self) -> tuple[str, bool, str | None]:
        """Return its status, whether it waits for a person, and the engine's word of it."""
        run = self.row
        return run.status, run.needs_operator, run.engine_status

    def move(self, assignment: str) -> None:
        """Let time pass for it."""
        self._lab.owner.execute(
            f"UPDATE runs SET {assignment} WHERE id = %s",  # noqa: S608 - our own words
            [self.id],
        )

    def pass_grace(self) -> None:
        """Let its end have been seen so long ago that it is believed."""
        self.move("terminal_first_seen_at = clock_timestamp() - interval '31 seconds'")

    def pass_deadline(self) -> None:
        """Let it be late."""
        self.move("deadline_at = clock_timestamp() - interval '1 second'")

    @property
    def claim(self) -> Claim:
        """Return its job as the lab knows it."""
        job = Job.objects.get(execution_id=self.execution, effect=self._effect)
        return Claim(
            job.id, job.idem_key, job.owner_token, self._effect, job.provider_key, job.handle
        )
