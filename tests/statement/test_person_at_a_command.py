"""What is otherwise a command, done by a person at the console: the audit says so."""

import pytest

from tests.support.records import Office


@pytest.mark.parametrize(
    ("actor", "kind", "name"),
    [
        ("human:anna", "human", "anna"),
        ("human:human:anna", "human", "human:anna"),
        ("anna", "command", "anna"),
        ("human:", "command", "human:"),
        ("a human:anna", "command", "a human:anna"),
    ],
)
def test_a_person_is_named_as_one(inner_office: Office, actor: str, kind: str, name: str) -> None:
    """In the audit and where it stands who set it."""
    done = inner_office.call(
        "set_policy", actor=actor, name="undo_s", value=45, reason="longer", version=1
    )
    assert done.outcome == "won"
    audit = inner_office.audited("set_policy")
    assert (audit["actor_kind"], audit["actor"]) == (kind, name)
    assert inner_office.rows("policies", name="undo_s")[0]["set_by"] == name


def test_a_sweeper_is_no_person(inner_office: Office) -> None:
    """Only a command is done by a person."""
    taken = inner_office.call("take_sweep_lock", actor="human:anna", name="sweep")
    assert taken.outcome == "won"
    audit = inner_office.audited("take_sweep_lock")
    assert (audit["actor_kind"], audit["actor"]) == ("sweeper", "human:anna")
