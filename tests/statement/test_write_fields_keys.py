"""write_fields: the key of a write, and who may spend it."""

from tests.support.factories import OTHER, SHOP, insert
from tests.support.records import Office

# -- the key -------------------------------------------------------------------------------------


def test_the_same_event_for_other_fields_is_another_content(office: Office) -> None:
    """It goes to a person with its record; the same again adds no second item."""
    office.write("e", {"plan": "pro"})
    lost = office.write("e", {"phone": "2"}, expected_revision=2)
    assert lost.outcome == "payload_mismatch"
    row = office.conflict(lost.conflict_id)
    assert (row["target"], row["record_key"], row["attempted"]) == (
        "customers",
        "7",
        {"phone": "2"},
    )
    again = office.write("e", {"phone": "3"}, expected_revision=2)
    assert (again.outcome, again.conflict_id) == ("payload_mismatch", lost.conflict_id)
    assert office.customer()["phone"] == "+49 30 1"


def test_an_event_without_its_key_is_parked_with_its_record(office: Office) -> None:
    """Nothing is written; the same item is parked once."""
    lost = office.write(" ", {"plan": "pro"})
    assert (lost.outcome, lost.detail["path"]) == ("missing_key", "event.id")
    assert lost.conflict_id == lost.detail["conflict_id"]
    row = office.conflict(lost.conflict_id)
    assert (row["target"], row["record_key"], row["version_read"]) == ("customers", "7", "1")
    assert row["attempted"] == {"plan": "pro"}
    assert office.write(" ", {"plan": "pro"}).conflict_id == lost.conflict_id
    assert office.rows("idem") == []


def test_the_executions_own_id_is_no_key(office: Office) -> None:
    """It is new at every retry."""
    lost = office.write("81", {"plan": "pro"}, execution_id="81")
    assert (lost.outcome, lost.detail["path"]) == ("key_is_run_identity", "event.id")
    assert office.rows("idem") == office.rows("conflicts") == []


def test_a_long_key_is_kept_as_a_digest(office: Office) -> None:
    """Two long events of one record stay two keys that fit."""
    events = ["e" * 220 + tail for tail in ("1", "2")]
    keys = []
    for number, event in enumerate(events):
        won = office.write(event, {"plan": event[-1]}, expected_revision=number + 1)
        assert won.outcome == "won"
        keys.append(won.idem_key)
    assert len(set(keys)) == 2
    assert all(len(key) <= 255 for key in keys)


def test_a_named_effect_gives_its_own_keys(office: Office) -> None:
    """One event may write a record once for each effect of the workflow."""
    insert(office.owner, "effects", name="renew", workflow=SHOP, provider="(database)")
    insert(office.owner, "key_specs", effect="renew", version=1, fields=["id"], canon=["raw"])
    assert office.write("e", {"plan": "pro"}).outcome == "won"
    won = office.write("e", {"plan": "team"}, expected_revision=2, effect="renew")
    assert (won.outcome, won.idem_key) == ("won", "renew:e#customers/7")


# -- who and where -------------------------------------------------------------------------------


def test_an_unknown_target_or_effect_stores_nothing(office: Office) -> None:
    """Calling again after registering is right."""
    assert office.write("e", {"plan": "pro"}, target="leads").outcome == "unknown_target"
    insert(office.owner, "targets", name="airtable", external=True)
    assert office.write("e", {"plan": "pro"}, target="airtable").outcome == "unknown_target"
    assert office.write("e", {"plan": "pro"}, effect="nope").outcome == "unknown_effect"
    assert office.rows("idem") == office.rows("conflicts") == []


def test_an_effect_of_another_workflow_is_refused(office: Office) -> None:
    """A workflow cannot spend somebody else's keys."""
    refused = office.write("e", {"plan": "pro"}, effect=f"write:customers:{OTHER}")
    assert refused.outcome == "wrong_role"


def test_a_table_that_went_away_is_no_target(office: Office) -> None:
    """An operator's change of the table is answered, not raised."""
    office.alter("ALTER TABLE {} RENAME TO gone")
    assert office.write("e", {"plan": "pro"}).outcome == "unknown_target"
    office.alter("ALTER TABLE gone RENAME TO {}")
    office.alter("ALTER TABLE {} RENAME COLUMN id TO number")
    assert office.write("e", {"plan": "pro"}).outcome == "unknown_target"


def test_a_login_of_one_workflow_cannot_be_another(sql_office: Office) -> None:
    """Over SQL the login decides, whatever the argument says."""
    session = sql_office.door._session("write_fields")  # type: ignore[attr-defined]
    sql_office.owner.execute(
        "UPDATE workflows SET db_role = %s WHERE name = 'other'", [session.info.user]
    )
    assert sql_office.write("e", {"plan": "pro"}).outcome == "wrong_role"
    given = sql_office.given("e", {"plan": "pro"})
    del given["workflow"]
    assert sql_office.door.call("write_fields", **given).outcome == "won"
    assert sql_office.audited("write_fields")["workflow"] == OTHER


def test_an_unregistered_workflow_may_nothing(sql_office: Office) -> None:
    """Not even be named in the audit as if it existed."""
    assert sql_office.write("e", {"plan": "pro"}, workflow="nobody").outcome == "wrong_role"
    assert sql_office.audited("write_fields")["workflow"] is None
    sql_office.owner.execute("UPDATE workflows SET enabled = false WHERE name = 'shop'")
    assert sql_office.write("e", {"plan": "pro"}).outcome == "wrong_role"
