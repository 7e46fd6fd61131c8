"""Rules of the machine: events arrive, workers hold jobs, leases end, the sweeper decides."""

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from sweeper.classes import ProviderClass
from sweeper.decisions.sweep import Action, Facts, decide
from tests.support.machine.base import LOST, RECENT, Base, Row
from tests.support.machine.world import SENDERS

ORDERS = st.fixed_dictionaries(
    {
        "effect": st.sampled_from(SENDERS),
        "event": st.integers(1, 4).map(lambda n: {"id": n}),
        "payload": st.sampled_from([1, 1, 1, 1, 2]).map(lambda n: {"amount": n}),
    },
    optional={
        "serial_key": st.sampled_from(["a", "b"]),
        "effect_version": st.sampled_from([1, 1, 2]),
    },
)
HELD = precondition(lambda self: self.holds)
TAKEN = precondition(lambda self: any(map(self._is_live, self.taken)))
SAID = st.sampled_from(["found", "absent", "error"])
DECISIONS = ["done", "requeue", "review", "wait"]
WRONG = st.sampled_from(DECISIONS)
LATER = "2199-01-01T00:00:00Z"
LONG = timedelta(hours=12)
# What is over is over in the order of the jobs: of two alike, chance would say which comes first.
JUST_OVER = (
    "(SELECT id AS job, clock_timestamp() - interval '1 second' + interval '1 millisecond'"
    " * row_number() OVER (ORDER BY created_at, idem_key) AS t FROM jobs) past"
)
LEASE_ENDS = (
    "UPDATE jobs SET lease_expires_at = t, claimed_at = CASE state WHEN 'claimed'"
    " THEN t - make_interval(secs => lease_seconds) ELSE claimed_at END"
    " FROM {past} WHERE job = id AND owner_token IS NOT NULL"
).replace("{past}", JUST_OVER)
WINDOWS_END = (
    "UPDATE jobs SET settle_until = clock_timestamp() - interval '1 second'"
    " WHERE settle_until > clock_timestamp()"
)
PROVIDERS_FORGET = (  # what a forced-unique provider of the shop remembers for a day
    "UPDATE jobs SET first_marked_at = first_marked_at - s, marker_at = marker_at - s"
    " FROM (SELECT interval '1 day') past (s) WHERE first_marked_at > clock_timestamp() - s"
)
ALL_IS_DUE = (
    "UPDATE jobs SET run_after = t FROM {past}"
    " WHERE job = id AND state = 'queued' AND run_after > clock_timestamp()"
).replace("{past}", JUST_OVER)


def some[Rule: Callable[..., None]](test: Callable[[Row], Any]) -> Callable[[Rule], Rule]:
    """Let a rule run only while some job is so."""
    return precondition(lambda self: any(map(test, self.checker.jobs.values())))


class Work(Base):
    """What workers and the sweeper do."""

    # -- arriving and taking ---------------------------------------------------------------------

    @rule(order=ORDERS, later=st.sampled_from([{}, {}, {"run_after": LATER}]), lose=LOST)
    def enqueue(self, order: Row, later: Row, lose: bool) -> None:
        """Let an event arrive for the queue."""
        self.ask("enqueue_job", lose=lose, **self.worker(**order, **later))

    @rule(order=ORDERS, used=RECENT, lose=LOST)
    def claim(self, order: Row, used: int, lose: bool) -> None:
        """Let an event arrive at a worker, now and then with a token that was used before."""
        old = used == 0 and self.holds
        token = self.holds[-1]["owner_token"] if old else self.token()
        self._keep(self.ask("claim_job", lose=lose, owner_token=token, **self.worker(**order)))

    @rule(order=ORDERS)
    def send_and_fall_silent(self, order: Row) -> None:
        """Let a worker die after its send."""
        if mine := self._sent(order):
            self.passed(f"{LEASE_ENDS} AND owner_token = %s", mine["owner_token"])

    @rule(order=ORDERS, then=st.sampled_from(["live on", "complete", "hear no"]))
    def send(self, order: Row, then: str) -> None:
        """Let a worker get as far as its send, and sometimes further."""
        mine = self._sent(order)
        if mine and then == "complete":
            self.ask("complete_job", result={"n": 1}, **mine)
        elif mine and then == "hear no":
            self.ask("fail_job", effect_state="rejected", error="rejected", **mine)

    def _sent(self, order: Row) -> Row | None:
        row = self.ask("claim_job", owner_token=self.token(), **self.worker(**order))
        self._keep(row)
        mine = self.worker(job_id=row["job_id"], owner_token=row["owner_token"])
        return mine if row["outcome"] == "won" and self._marked(row, mine) else None

    @rule(many=st.sampled_from([0, 0, 2]), lose=LOST)
    @some(lambda job: job["due"])
    def claim_next(self, many: int, lose: bool) -> None:
        """Let a worker ask for work."""
        name, more = ("claim_next_jobs", {"limit": many}) if many else ("claim_next_job", {})
        rows = self.call(name, lose=lose, owner_token=self.token(), **self.worker(**more))
        for row in sorted(rows, key=lambda row: row.get("idem_key") or ""):
            self._keep(row)

    @rule(forget=st.booleans())
    @some(lambda job: job["due"])
    def work_off(self, forget: bool) -> None:
        """Let a worker do the next job of the queue, perhaps long after it was sent before."""
        if forget:
            self.passed(PROVIDERS_FORGET)
        row = self.ask("claim_next_job", owner_token=self.token(), **self.worker())
        self._keep(row)
        mine = self.worker(job_id=row["job_id"], owner_token=row["owner_token"])
        if row["outcome"] == "won" and self._marked(row, mine):
            self.ask("complete_job", result={"n": 1}, **mine)

    def _marked(self, row: Row, mine: Row) -> bool:
        marked = self.ask("mark_sending", idem_key=row["idem_key"], **mine)
        return bool(marked["outcome"] == "won")

    def _keep(self, row: Row) -> None:
        """Remember who holds what."""
        held = {name: row.get(name) for name in ("job_id", "idem_key", "owner_token")}
        if row["outcome"] == "won" and held not in self.holds:
            self.holds.append(held)

    # -- in a worker's hands -----------------------------------------------------------------------

    def _mine(self, n: int, **more: Any) -> Row:
        hold = self.hold(n)
        return self.worker(job_id=hold["job_id"], owner_token=hold["owner_token"], **more)

    @rule(n=RECENT, key=st.sampled_from([None] * 6 + ["", "charge:99"]), lose=LOST)
    @HELD
    def mark(self, n: int, key: str | None, lose: bool) -> None:
        """Announce a send; or one of something else, or of nothing."""
        own = self.hold(n)["idem_key"]
        told = self._mine(n, idem_key=own if key is None else key)
        row = self.ask("mark_sending", lose=lose, **told)
        assert key is None or row["outcome"] != "won", row

    @rule(n=RECENT, ref=st.sampled_from(["re_1", "re_2"]), beat=st.booleans(), lose=LOST)
    @HELD
    def heartbeat_or_receipt(self, n: int, ref: str, beat: bool, lose: bool) -> None:
        """Be alive, or pass on the provider's own word."""
        if beat:
            self.ask("heartbeat_job", **self._mine(n))
        else:
            self.ask("record_receipt", lose=lose, **self._mine(n, provider_ref=ref))

    @rule(n=RECENT, result=st.sampled_from([1, 1, 2]), lose=LOST)
    @HELD
    def complete(self, n: int, result: int, lose: bool) -> None:
        """Say that it is done."""
        self.ask("complete_job", lose=lose, **self._mine(n, result={"n": result}))

    @rule(
        n=RECENT,
        state=st.sampled_from(["not_started", "not_started", "rejected", "unknown", "released"]),
        replayed=st.booleans(),
        lose=LOST,
    )
    @HELD
    def fail_or_release(self, n: int, state: str, replayed: bool, lose: bool) -> None:
        """Give it back, or say that it failed and what is known of the effect."""
        told = {"effect_state": state, "error": state, "replayed": replayed and state == "unknown"}
        if state == "released":
            self.ask("release_job", lose=lose, **self._mine(n))
        else:
            self.ask("fail_job", lose=lose, **self._mine(n, **told))

    # -- time ------------------------------------------------------------------------------------

    @rule(n=RECENT)
    @some(lambda job: job["expired"] is False)
    def a_lease_ends(self, n: int) -> None:
        """Let time pass for one job in somebody's hands, or for all."""
        held = [row for row in self.checker.jobs.values() if row["expired"] is False]
        job = self.one_of(held, n)
        assert job is not None
        self.passed(f"{LEASE_ENDS} AND id = %s", job["id"]) if n else self.passed(LEASE_ENDS)

    @rule(what=st.sampled_from([WINDOWS_END, PROVIDERS_FORGET, ALL_IS_DUE]))
    @some(lambda job: job["due"] is False or job["first_marked_at"])
    def time_passes(self, what: str) -> None:
        """Let settle windows end, providers forget their keys, or what waits become due."""
        self.passed(what)

    # -- the sweep -------------------------------------------------------------------------------

    @rule(lose=LOST)
    @some(lambda job: job["expired"])
    def sweep(self, lose: bool) -> None:
        """Take what is left lying."""
        taken = self.call("take_expired_jobs", lose=lose, **self.sweeper(owner_token=self.token()))
        won = [row for row in taken if row["outcome"] == "won"]
        self.taken += sorted(won, key=itemgetter("idem_key"))

    @rule(said=st.lists(st.one_of(SAID, WRONG), min_size=3, max_size=3))
    @some(lambda job: job["owner_token"])
    def a_night_passes(self, said: list[str]) -> None:
        """Let every lease and window end, and the sweeper do its round, not always rightly."""
        self.passed(LEASE_ENDS)
        self.passed(WINDOWS_END)
        self.sweep(lose=False)
        for n, row in enumerate(list(self.taken)):
            if self._is_live(row) and said[n % 3] in DECISIONS:
                self._decide(row, said[n % 3], row["settle_until"], lose=False)
            elif self._is_live(row):
                self._decide_by_the_table(row, said[n % 3], lose=False)

    @rule(n=RECENT, said=SAID, lose=LOST)
    @TAKEN
    def decide_by_the_table(self, n: int, said: str, lose: bool) -> None:
        """Decide a taken job as the sweeper does."""
        self._decide_by_the_table(self._taken(n), said, lose=lose)

    @rule(n=RECENT, action=WRONG, lose=LOST)
    @precondition(lambda self: self.taken)
    def decide_wrongly(self, n: int, action: str, lose: bool) -> None:
        """Decide as a broken sweeper would: the ledger must not let it send or close."""
        row = self._taken(n)
        self._decide(row, action, row["settle_until"], lose=lose)

    @rule(n=RECENT, said=SAID)
    @TAKEN
    def look_up(self, n: int, said: str) -> None:
        """Hear something from a provider, wanted or not."""
        self._look_up(self._taken(n), said)

    def _taken(self, n: int) -> Row:
        """Pick a job that a sweeper has, or one that it had."""
        live = [row for row in self.taken if self._is_live(row)]
        return self.one_of(live, n) or self.taken[-1 - n % len(self.taken)]

    def _look_up(self, row: Row, said: str) -> None:
        told = {"kind": f"lookup_{said}", "source": "test"}
        self.ask("add_evidence", **self.sweeper(job_id=row["job_id"], **told))

    def _decide_by_the_table(self, row: Row, said: str, *, lose: bool) -> None:
        """Decide, asking the provider first where the table says so."""
        decision = decide(facts_of(row))
        if decision.action is Action.LOOK_UP:
            self._look_up(row, said)
            token = self.sweeper(owner_token=row["owner_token"])
            again = [each for each in self.call("take_expired_jobs", **token) if each["job_id"]]
            others = [each for each in again if each["job_id"] != row["job_id"]]
            self.taken += sorted(others, key=itemgetter("idem_key"))
            fresh = next((each for each in again if each["job_id"] == row["job_id"]), row)
            decision = decide(facts_of(fresh, looked=True))
        self._decide(row, decision.action, decision.look_again_at, lose=lose)

    def _decide(self, row: Row, action: str, again: datetime | None, *, lose: bool) -> None:
        found = self.world.move("SELECT version FROM jobs WHERE id = %s", row["job_id"])
        given = {
            "job_id": row["job_id"],
            "owner_token": row["owner_token"],
            "decision": str(action),
        }
        more = {"look_again_at": again + LONG} if action == "wait" and again else {}
        version = found[0] if found else 1
        told = self.sweeper(expected_version=version, reason=str(action), **given, **more)
        self.ask("decide_job", lose=lose, **told)


def facts_of(row: Row, *, looked: bool = False) -> Facts:
    """Read a taken row as the sweeper does."""
    class_ = ProviderClass(row["recovery_class"])
    return Facts(
        recovery_class=class_,
        marked=row["marked"],
        may_retake=row["may_retake"],
        attempts_left=row["attempts_left"],
        positive=row["positive"],
        error_replayed=row["error_replayed"],
        superseded=row["superseded_by"] is not None,
        can_look_up=class_ is not ProviderClass.ADVISORY_BLIND,
        looked=looked,
        settled=row["settled"],
        absent=row["absent"],
        lookups_exhausted=row["lookups_exhausted"],
        lookups=row["lookups"],
        now=row["lease_expires_at"],
        settle_until=row["settle_until"],
    )
