"""read_record: a record with the revision a later write must name."""

from tests.support.factories import OTHER, insert, make_workflow
from tests.support.records import Office


def test_a_record_is_read_with_its_revision(office: Office) -> None:
    """What is read is what a write then names."""
    office.change(plan="pro")
    read = office.call("read_record", target="customers", record_key="7")
    assert (read.outcome, read.revision, read.record["plan"]) == ("won", 2, "pro")
    assert read.rule_inputs == {}
    assert read.record["revision"] == 2
    won = office.write("e", {"plan": "team"}, expected_revision=read.revision)
    assert won.outcome == "won"


def test_reading_leaves_no_trace(office: Office) -> None:
    """Neither an audit row nor a lock: a writer beside it does not wait."""
    office.call("read_record", target="customers", record_key="8")
    with office.owner.transaction():
        office.owner.execute("SELECT * FROM office_customers WHERE id = '7' FOR UPDATE")
        read = office.call("read_record", target="customers", record_key="7")
    assert read.outcome == "won"
    assert office.rows("audit_events") == []


def test_a_record_that_is_not_there_is_lost(office: Office) -> None:
    """Also one whose key its column could not even hold."""
    office.alter("DELETE FROM {}")
    office.alter("ALTER TABLE {} ALTER id TYPE bigint USING NULL")
    for key in ("8", "x", "9" * 40, "1e3", "' OR 1=1", "a/b"):
        read = office.call("read_record", target="customers", record_key=key)
        assert (read.outcome, read.revision, read.record) == ("lost_record", None, None), key


def test_only_workflows_that_own_a_field_may_read(office: Office) -> None:
    """Everybody who writes must read; nobody else needs to."""
    assert office.call("read_record", workflow=OTHER, target="customers", record_key="7").record
    make_workflow(office.owner, "third")
    refused = office.call("read_record", workflow="third", target="customers", record_key="7")
    assert (refused.outcome, refused.record) == ("wrong_role", None)
    assert office.audited("read_record")["workflow"] == "third"


def test_a_target_that_is_not_here_is_unknown(office: Office) -> None:
    """Not registered, outside, or gone."""
    insert(office.owner, "targets", name="airtable", external=True)
    for target in ("nope", "airtable", "public.office_customers", "' --"):
        read = office.call("read_record", target=target, record_key="7")
        assert (read.outcome, bool(read.detail["hint"])) == ("unknown_target", True)
    office.alter("ALTER TABLE {} RENAME revision TO rev")
    assert (
        office.call("read_record", target="customers", record_key="7").outcome == "unknown_target"
    )


def test_an_ill_typed_member_is_named(sql_office: Office) -> None:
    """Nothing is read."""
    good = {"target": "customers", "record_key": "7"}
    for wrong in ({"target": 5}, {"record_key": 7}, {"record_key": ""}, {"record_key": None}):
        refused = sql_office.call("read_record", **good | wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(wrong)))
    refused = sql_office.call("read_record", **good, fields=["plan"])
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "fields")
