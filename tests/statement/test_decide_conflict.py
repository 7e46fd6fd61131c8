"""decide_conflict: what each decision of the table ends, for every kind."""

from typing import Any, NamedTuple

import pytest

from ledger.models.conflicts import KINDS
from tests.support.conflicts import MAKE, kind_of
from tests.support.records import ANNA, Office

DECISIONS = ("apply", "merge", "keep", "resend", "abandon", "landed", "not_landed", "accept_new")


class End(NamedTuple):
    """What a decision leaves: state of the conflict, status and outcome of the key, the job."""

    state: str
    key: tuple[str, str | None] | None = None
    job: str | None = None
    more: dict[str, Any] = {}  # noqa: RUF012 - never changed


FIELD = {
    "merge": End("merged", ("done", "success"), None, {"changes": {"phone": "9"}}),
    "keep": End("kept", ("done", "skipped")),
    "resend": End("resent", ("pending", None)),
    "abandon": End("abandoned", ("done", "abandoned")),
}
EVENT = {"event": {"id": "typed"}}
TABLE: dict[str, dict[str, End]] = {
    "stale_version": FIELD | {"apply": End("applied", ("done", "success"))},
    "rule_failed": FIELD,
    "not_owner_of_field": FIELD,
    "bad_transition": FIELD
    | {"merge": End("merged", ("done", "success"), None, {"changes": {"status": "trial"}})},
    "lost_record": {name: FIELD[name] for name in ("resend", "abandon")},
    "unknown_send": {
        "landed": End("confirmed", ("done", "success"), "done", {"provider_ref": "ch_1"}),
        "not_landed": End(
            "confirmed", ("done", "failed"), "abandoned", {"statement": "asked them"}
        ),
        "resend": End("resent", ("pending", None), "queued", {"risk_acknowledged": True}),
        "abandon": End("abandoned", ("done", "abandoned"), "abandoned"),
    },
    "missing_key": {
        "resend": End("resent", ("pending", None), "queued", EVENT),
        "abandon": End("abandoned"),
    },
    "missing_key_of_write": {
        "resend": End("resent", ("done", "success"), None, EVENT),
        "abandon": End("abandoned"),
    },
    "lost_claim": {
        "resend": End("resent", ("pending", None), "queued"),
        "abandon": End("abandoned", ("done", "abandoned")),
    },
    "payload_mismatch": {
        "keep": End("kept", ("done", "success"), "done"),
        "accept_new": End("applied", ("pending", None), "queued"),
        "abandon": End("abandoned", ("done", "success"), "done"),
    },
    "payload_mismatch_of_write": {
        "keep": End("kept", ("done", "success")),
        "accept_new": End("applied", ("done", "success")),
        "abandon": End("abandoned", ("done", "success")),
    },
    "result_mismatch": {
        "keep": End("kept", ("done", "success"), "done"),
        "accept_new": End("applied", ("done", "success"), "done"),
    },
}
ROWS = [(name, decision) for name, decisions in TABLE.items() for decision in decisions]
REFUSED_AGAIN = {"rule_failed", "not_owner_of_field", "bad_transition"}
"""Applying what was refused is refused for the same reason."""


def seen(office: Office) -> int:
    """Return the revision a person sees on the page."""
    return int(office.customer()["revision"])


def test_every_kind_has_a_verb_that_ends_it() -> None:
    """And a maker here, so that no kind goes untested."""
    assert {kind_of(name) for name in MAKE} == KINDS
    assert set(TABLE) == set(MAKE)
    assert all(TABLE.values())


@pytest.mark.parametrize(("name", "decision"), ROWS)
def test_a_decision_ends_what_the_table_says(office: Office, name: str, decision: str) -> None:
    """Conflict, key, job, message, queue, audit, and the answers to whoever comes later."""
    conflict, end = MAKE[name](office), TABLE[name][decision]
    office.audit.skip()
    given = office.decision(conflict, decision, revision_seen=seen(office), **end.more)
    done = office.run("decide_conflict", **given)
    assert (done.outcome, done.state, done.decision) == ("won", end.state, decision), done
    assert done.lock_version == given["lock_version"] + 1

    row = office.conflict(conflict)
    assert (row["state"], row["decision"], row["resolved_by"]) == (end.state, decision, ANNA)
    assert (row["reason"], row["waiting_since"]) == ("looked at it", None)
    own = [each for each in office.audit.new() if each["op"] == "decide_conflict"]
    (audit,) = own
    assert (audit["outcome"], audit["actor_kind"], audit["actor"]) == ("won", "human", ANNA)
    assert (audit["row_count"], audit["conflict_id"]) == (1, conflict)
    assert audit["reason"] == "looked at it"

    keys = [(key["status"], key["outcome"]) for key in office.rows("idem")]
    assert keys == ([end.key] if end.key else [])
    jobs = office.rows("jobs")
    if end.job:
        assert jobs[-1]["state"] == end.job
        assert done.job_id == jobs[-1]["id"] == office.rows("idem")[0]["job_id"]
    (message,) = office.rows("outbox", topic="conflict.decided")
    assert (message["payload"]["decision"], message["workflow"]) == (decision, row["workflow"])
    assert office.owner.execute("SELECT count(*) FROM review_queue").fetchone() == (0,)

    read = office.call("read_conflict", workflow=row["workflow"], conflict_id=conflict)
    assert (read.state, read.decision, read.resolved_by) == (end.state, decision, ANNA)
    again = office.call("decide_conflict", **given | {"actor": "bert", "decision": "keep"})
    assert (again.outcome, again.state) == ("already_decided", end.state)
    assert (again.detail["decision"], again.detail["resolved_by"]) == (decision, ANNA)
    assert office.conflict(conflict) == row


@pytest.mark.parametrize("name", MAKE)
def test_a_decision_that_is_not_in_the_table_is_refused(office: Office, name: str) -> None:
    """Nothing changes, and the conflict can still be decided."""
    conflict = MAKE[name](office)
    offered = set(TABLE[name]) | ({"apply"} if name in REFUSED_AGAIN else set())
    before = office.conflict(conflict)
    for decision in set(DECISIONS) - offered:
        more = {"statement": "x", "changes": {"phone": "9"}, **EVENT}
        refused = office.decide(conflict, decision, revision_seen=seen(office), **more)
        assert (refused.outcome, refused.state) == ("bad_transition", "open"), decision
        assert refused.detail["kind"] == kind_of(name)
    assert office.conflict(conflict) == before


@pytest.mark.parametrize("name", sorted(REFUSED_AGAIN))
def test_applying_what_was_refused_is_refused_again(office: Office, name: str) -> None:
    """A person is bound by the same rules; the item stays open for another verb."""
    conflict = MAKE[name](office)
    lost = office.decide(conflict, "apply", revision_seen=1)
    assert (lost.outcome, lost.state) == (name, "open")
    assert office.customer()["revision"] == 1
    assert office.decide(conflict, "keep").outcome == "won"
