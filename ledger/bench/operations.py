"""P1 to P3 and P12: each operation against the plain statements that write the same rows."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from ledger.bench import database as db
from ledger.bench.measure import Cost, Goal, Ratio, Run, alternate, cost, together
from ledger.bench.plain import PLAIN

BATCH = 100
MOST_ITEMS = 500
Variant = tuple[str, str]
VARIANTS: list[Variant] = [
    (how, form) for how in ("plain", "function") for form in ("prepared", "text")
]

Item = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One operation in one situation: what it is given, and what it must answer."""

    name: str
    items: Callable[[psycopg.Connection, int], list[Item]]
    members: tuple[str, ...] = ()
    more: tuple[tuple[str, Any], ...] = ()
    outcome: str = "won"

    @property
    def operation(self) -> str:
        """Return the function's name."""
        return self.name.split()[0]

    def argument(self, item: Item) -> str:
        """Return the argument of the function."""
        given = item["order"] if not self.members else {each: item[each] for each in self.members}
        return json.dumps({"workflow": db.WORKFLOW, **given, **dict(self.more)})


def _new(_session: psycopg.Connection, count: int) -> list[Item]:
    """Return events nobody has seen yet."""
    return [_item(uuid4().hex) for _ in range(count)]


def _item(number: str) -> Item:
    order = db.order(number)
    payload = json.dumps(order["payload"])
    return {
        "order": order,
        "event": json.dumps(order["event"]),
        "payload": payload,
        "hashed": payload,
        "event_key": order["event"]["id"],
        "idem_key": f"{db.EFFECT}:{order['event']['id']}",
        "job_id": str(uuid4()),
        "token": str(uuid4()),
        "error": "the provider is busy",
    }


def _claimed(session: psycopg.Connection, count: int) -> list[Item]:
    """Return jobs that were claimed just now."""
    items = _new(session, count)
    for some in _chunks(items):
        orders = [item["order"] | {"owner_token": item["token"]} for item in some]
        rows = db.call(session, "claim_jobs", {"items": orders})
        for row in rows:
            some[row[1]]["job_id"] = row[2]
    return items


def _marked(session: psycopg.Connection, count: int) -> list[Item]:
    """Return claimed jobs whose send was announced."""
    items = _claimed(session, count)
    for item in items:
        named = {each: item[each] for each in ("job_id", "idem_key")}
        db.call(
            session,
            "mark_sending",
            {"workflow": db.WORKFLOW, **named, "owner_token": item["token"]},
        )
    return items


def _done(session: psycopg.Connection, count: int) -> list[Item]:
    """Return jobs that were completed."""
    items = _claimed(session, count)
    for some in _chunks(items):
        results = [
            {"job_id": i["job_id"], "owner_token": i["token"], "result": {"ok": 1}} for i in some
        ]
        db.call(session, "complete_jobs", {"workflow": db.WORKFLOW, "items": results})
    return items


def _due(session: psycopg.Connection, count: int) -> list[Item]:
    """Return nothing but tokens; the jobs are in the queue."""
    return [_item(uuid4().hex) for _ in range(count)]


def _chunks(items: list[Item]) -> Iterator[list[Item]]:
    for start in range(0, len(items), MOST_ITEMS):
        yield items[start : start + MOST_ITEMS]


HOLDER = ("job_id", "owner_token")
CASES = (
    Case("claim_job", _new),
    Case("claim_job replay", _done, outcome="replay"),
    Case("enqueue_job", _new, outcome="inserted"),
    Case("claim_next_job", _due, ("owner_token",)),
    Case("heartbeat_job", _claimed, HOLDER),
    Case("mark_sending", _claimed, (*HOLDER, "idem_key")),
    Case("record_receipt", _marked, (*HOLDER, "provider_ref")),
    Case("complete_job", _marked, (*HOLDER, "result"), (("http_status", 200),)),
    Case("fail_job", _claimed, (*HOLDER, "error"), (("effect_state", "not_started"),)),
    Case("release_job", _claimed, HOLDER),
)


def run_function(session: psycopg.Connection, case: Case, form: str) -> Callable[[Item], None]:
    """Return what calls the operation once."""
    statement = sql.SQL("SELECT * FROM ledger.{}(%s::jsonb)").format(sql.Identifier(case.operation))
    text = statement.as_string(session)
    cursor = session.cursor() if form == "prepared" else psycopg.ClientCursor(session)

    def call(item: Item) -> None:
        cursor.execute(text, [item["argument"]], prepare=form == "prepared")
        row = cursor.fetchone()
        if row is None or row[0] != case.outcome:
            raise RuntimeError(f"{case.name} answered {row}")

    return call


def run_plain(session: psycopg.Connection, case: Case, form: str) -> Callable[[Item], None]:
    """Return what sends the plain statements once, in a transaction unless it is one statement."""
    statements = PLAIN[case.name]
    if form == "prepared":
        cursor: Any = session.cursor(row_factory=dict_row)
    else:
        cursor = psycopg.ClientCursor(session, row_factory=dict_row)
    wrapped = len(statements) > 1

    def call(item: Item) -> None:
        if wrapped:
            cursor.execute("BEGIN", prepare=form == "prepared")
        for statement in statements:
            cursor.execute(statement, item, prepare=form == "prepared")
            found = cursor.fetchone() if cursor.description else None
            if found and case.operation == "claim_next_job":
                item |= {each: found[each] for each in ("job_id", "idem_key") if each in found}
        if wrapped:
            cursor.execute("COMMIT", prepare=form == "prepared")

    return call


def ready(stack: ExitStack, name: str, case: Case, variant: Variant, calls: int) -> Run:
    """Prepare one variant of a case on a connection of its own, which the stack closes."""
    how, form = variant
    with db.app(name) as maker:
        items = case.items(maker, calls)
    for item in items:
        item |= {"op": case.operation, "outcome": case.outcome, "owner_token": item["token"]}
        item |= {"provider_ref": item["job_id"], "result": {"ok": 1}}
        item["argument"] = case.argument(item)
    connect = db.app if how == "function" else db.owner
    runner = run_function if how == "function" else run_plain
    session = stack.enter_context(connect(name))
    session.prepare_threshold = 5 if form == "prepared" else None
    return Run(session, runner(session, case, form), items)


def measure(
    name: str, rounds: int, calls: int, cases: Sequence[Case] = CASES
) -> dict[str, dict[Variant, list[Cost]]]:
    """Measure every variant of every case by turns, on new connections each round."""
    found: dict[str, dict[Variant, list[Cost]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        for _, order in alternate(VARIANTS, rounds):
            with ExitStack() as stack:
                runs = [ready(stack, name, case, variant, calls) for variant in order]
                for variant, costs in zip(order, together(runs), strict=True):
                    found[case.name][variant] += costs
    return found


def ratio(over: Sequence[Cost], under: Sequence[Cost]) -> Ratio:
    """Return the CPU of one variant over another's, turn by turn."""
    return Ratio([a.cpu_us / b.cpu_us for a, b in zip(over, under, strict=True)])


# -- the goals -----------------------------------------------------------------------------------

ROOM = {"queued": 1.0, "claimed": 0.75}
"""Rows of each state beside the measured ones, as parts of the rows asked for."""
LOCKS_FIRST = (
    "the control is a single statement; a quarter of the operation admits its caller, an eighth"
    " locks before it reads the clock, so that a lease never counts the time it waited"
)


def p1_to_p3(rows: int, rounds: int, calls: int) -> list[Goal]:
    """Measure the operations and P12 in a database with that many rows beside them."""
    with db.database() as name:
        with db.owner(name) as session:
            for state, part in ROOM.items():
                age = -3600.0 if state == "queued" else 0.0
                db.fill(session, state, int(rows * part), mark=f"{state}-", age=age)
            db.settle(session)
        found = measure(name, rounds, calls)
        batch = _batch(name, rounds, calls)
        beats = found["heartbeat_job"]["function", "prepared"]
    goals = []
    for case in CASES:
        plain, text, function, sent = (found[case.name][variant] for variant in VARIANTS)
        cpu, over_text = ratio(function, plain), ratio(sent, text)
        heartbeats = case.name == "heartbeat_job"
        goals += [
            Goal(
                "P3" if case.name == "claim_next_job" else "P1",
                f"{case.name}, over plain prepared statements",
                cpu.middle,
                most=1.6 if case.name == "claim_next_job" else 1.25,
                spread=f"{cpu} {_middle(function):.0f}/{_middle(plain):.0f} us",
                reason=LOCKS_FIRST if heartbeats else "",
            ),
            Goal(
                "P2",
                f"{case.name}, over the same statements, both sent as text",
                over_text.middle,
                most=0.95,
                spread=f"{over_text} {_middle(sent):.0f}/{_middle(text):.0f} us",
                reason=LOCKS_FIRST if heartbeats else "",
            ),
        ]
    one = _middle(found["claim_next_job"]["function", "prepared"])
    each = Ratio([cpu / one for cpu in batch])
    written = median(beat.wal_bytes for beat in beats)
    wal = Goal("P12", "WAL of a heartbeat", written, most=1100, unit="B")
    goals += [
        Goal(
            "P3",
            f"a job in batches of {BATCH}, over claim_next_job",
            each.middle,
            most=0.2,
            spread=str(each),
            reason="every job has its own key, audit row and triggers in a batch too",
        ),
        wal,
    ]
    return goals


def _middle(costs: Sequence[Cost]) -> float:
    return median(each.cpu_us for each in costs)


def _batch(name: str, rounds: int, calls: int) -> list[float]:
    """Return the CPU a job of claim_next_jobs, by round."""
    found = []
    times = max(calls // BATCH, 4)
    for _ in range(rounds):
        with db.app(name) as session:

            def take(item: Item) -> None:
                asked = {"workflow": db.WORKFLOW, "limit": BATCH, "owner_token": item["token"]}
                if len(db.call(session, "claim_next_jobs", asked)) != BATCH:
                    raise RuntimeError("the queue ran empty; give more --rows")

            found.append(cost(session, take, _due(session, times)) / BATCH)
    return found
