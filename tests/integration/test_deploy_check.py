"""`manage.py deploy_check`: an export becomes a registered version, or says why it does not."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from ledger.models import AuditEvent, FieldOwnership, Workflow, WorkflowDeploy
from sweeper.n8n.lint.example import GUARDED, TRIGGER, by_sql, flow, post, step
from tests.support.targets import deploy, table, write
from tests.support.targets import register as register_target

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner a registered table of customers."""
    with table(owner_sql) as owner:
        register_target()
        yield owner


@pytest.fixture
def export(tmp_path: Path) -> Any:
    """Write a workflow as n8n exports it, and return its path."""

    def written(whole: Any, name: str = "flow") -> str:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(whole), encoding="utf-8")
        return str(path)

    return written


def writing(*fields: str, workflow: str = "shop") -> dict[str, Any]:
    """Return a workflow that writes fields of the customers."""
    changes = ", ".join(f"{name}: $json.{name}" for name in fields)
    return flow(TRIGGER, by_sql(
        "Write", "write_fields", f"{{ workflow: '{workflow}', target: 'customers', record_key: '7',"
        f" expected_revision: 1, changes: {{ {changes} }}, event: {{ id: $json.id }} }}",
    ))  # fmt: skip


def run(*words: str, version: str = "1", anchor: str = "seed") -> tuple[str, int]:
    """Run the command as a person types it; return what it said and its exit code."""
    said = StringIO()
    code = 0
    try:
        call_command(
            "deploy_check",
            *words,
            "--version",
            version,
            "--anchor",
            anchor,
            stdout=said,
            stderr=said,
        )
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    return said.getvalue(), code


def test_fields_are_derived_registered_and_written_in_one_act(
    owner: psycopg.Connection, export: Any
) -> None:
    """The export is the list: what it writes is what it may write."""
    path = export({**writing("plan", "note"), "id": "wf-1"})
    said, code = run(path)
    assert (code, Workflow.objects.filter(name="shop").count()) == (0, 0)
    assert (
        "shop, version 1: may write customers.note, customers.plan, every send is guarded" in said
    )
    said, code = run(path, "--apply")
    assert (code, said.endswith(": deployed\n")) == (0, True)
    assert write(1, "a", plan="pro").outcome == "won"
    assert write(2, "b", status="old").outcome == "not_owner_of_field"
    row = Workflow.objects.get(name="shop")
    kept = WorkflowDeploy.objects.get(workflow="shop")
    assert (row.n8n_workflow_id, row.export_sha256) == ("wf-1", kept.export_sha256)
    assert kept.anchor_statement == {"kind": "seed"}
    assert kept.check_report["fields"] == ["customers.note", "customers.plan"]
    assert kept.deployed_by.startswith("command:")
    assert AuditEvent.objects.get(op="apply_deploy").reason == "deploy of version 1"


def test_a_foreign_field_is_named_with_its_node_and_nothing_is_registered(
    owner: psycopg.Connection, export: Any
) -> None:
    """Exit 1, the node, the field, the owner."""
    deploy("plan")
    said, code = run(export(writing("plan", "note", workflow="form")), "--apply")
    assert code == 1
    assert "example / Write: LW502 foreign-field: customers.plan belongs to shop" in said
    assert not Workflow.objects.filter(name="form").exists()
    assert list(FieldOwnership.objects.values_list("field", flat=True)) == ["plan"]
    told = AuditEvent.objects.get(op="apply_deploy", outcome="rule_failed")  # that it was tried
    assert (told.key, told.after["field"]) == ("workflow:form", "plan")


def test_a_field_both_share_is_deployed_as_shared(owner: psycopg.Connection, export: Any) -> None:
    """Sharing is said on both sides, and stays said."""
    share = ("--shares", "customers.plan")
    assert run(export(writing("plan"), "a"), *share, "--apply")[1] == 0
    other = export(writing("plan", workflow="form"), "b")
    assert run(other, "--apply")[1] == 1
    assert run(other, *share, "--apply")[1] == 0
    assert run(export(writing("plan", "note"), "a"), *share, "--apply", version="2")[1] == 0
    assert set(FieldOwnership.objects.values_list("workflow", "field", "exclusive")) == {
        ("shop", "plan", False), ("form", "plan", False), ("shop", "note", True),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("whole", "code"),
    [
        (flow(TRIGGER, step("postgres", "Save", operation="update", table="customers",
                            columns={"mappingMode": "autoMapInputData"})), "LW501"),
        (flow(TRIGGER, step("postgres", "Save", operation="executeQuery",
                            query="UPDATE crm.customers SET plan = 'x' WHERE id = 7")), "LW506"),
        (flow(TRIGGER, step("postgres", "Save", operation="executeQuery", query="no ((")), "LW503"),
        (flow(TRIGGER, step("code", "Build", jsCode="return pick(items);"),
              by_sql("Write", "write_fields", "$json")), "LW503"),
        (flow(TRIGGER, post("Send")), "LW301"),
        ({"nodes": "none"}, "LW901"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_guards_nothing_is_refused(
    owner: psycopg.Connection, export: Any, whole: Any, code: str
) -> None:
    """It fails closed, and nothing is written."""
    said, exit_code = run(export(whole), "--apply")
    assert (exit_code, code in said) == (1, True)
    assert not Workflow.objects.filter(name="example").exists()


@pytest.mark.parametrize("word", ["", "carried", "empty", "empty:  ", "seed:why"])
def test_without_a_statement_of_the_anchor_nothing_is_checked(export: Any, word: str) -> None:
    """Empty is a decision: it needs its reason."""
    with pytest.raises(CommandError, match="carry, seed, or empty:REASON"):
        call_command("deploy_check", export(flow(*GUARDED)), "--version=1", f"--anchor={word}")
    with pytest.raises(CommandError, match="--anchor"):
        call_command("deploy_check", export(flow(*GUARDED)), "--version=1")


def test_the_anchor_is_kept_with_the_version_it_is_carried_from(export: Any) -> None:
    """Nothing can be carried where nothing was; a carried one names its version."""
    path = export(flow(*GUARDED))
    with pytest.raises(CommandError, match="no earlier version to carry from"):
        run(path, "--apply", anchor="carry")
    assert run(path, "--apply", anchor="empty:a new workflow")[1] == 0
    other = export(flow(*GUARDED, step("noOp", "Rest")))
    assert run(other, "--apply", version="2", anchor="carry")[1] == 0
    kept = dict(WorkflowDeploy.objects.values_list("version", "anchor_statement"))
    assert kept == {
        "1": {"kind": "empty", "reason": "a new workflow"},
        "2": {"kind": "carry", "from_version": "1"},
    }


def test_a_version_is_one_export(export: Any) -> None:
    """The same again changes nothing; another export needs another version."""
    path = export(flow(*GUARDED))
    assert run(path, "--apply")[0].endswith(": deployed\n")
    assert run(path, "--apply", anchor="carry")[0].endswith(": deployed already\n")
    with pytest.raises(CommandError, match="another export was deployed as this version"):
        run(export(flow(*GUARDED, step("noOp", "Rest"))), "--apply")
    assert WorkflowDeploy.objects.count() == 1


def test_only_what_is_certain_lets_an_unmarked_claim_be_taken_again(export: Any) -> None:
    """A guarded send is stated; one that is allowed by a note, or hidden, is not."""
    assert run(export(flow(*GUARDED)), "--apply")[1] == 0
    assert Workflow.objects.get(name="mail").sends_dominated
    notes = "landed-allow LW301: the channel may hear it twice"
    tell = step("slack", "Tell", text="hi", notes=notes)
    hidden = step("executeCommand", "Run", command="mail")
    for version, extra in (("2", tell), ("3", hidden)):
        said, code = run(export(flow(*GUARDED, extra)), "--apply", version=version, anchor="carry")
        assert (code, "not every send is proved to be guarded" in said) == (0, True)
        assert not Workflow.objects.get(name="mail").sends_dominated
    kept = WorkflowDeploy.objects.get(version="2").check_report["allowed"]
    assert kept == [{"code": "LW301", "node": "Tell", "reason": "the channel may hear it twice"}]


def test_what_another_way_of_registering_set_stays(export: Any) -> None:
    """An export says nothing of it."""
    call_command("workflow", "register", "mail", "--version=0", "--reason=test",
                 "--editor-url=https://n8n.example/1", stdout=StringIO())  # fmt: skip
    assert run(export(flow(*GUARDED)), "--apply", anchor="carry")[1] == 0
    assert Workflow.objects.get(name="mail").editor_url == "https://n8n.example/1"


def test_which_workflow_is_meant_must_be_clear(export: Any) -> None:
    """Its calls say one name, and only that can be registered."""
    path = export(flow(*GUARDED))
    with pytest.raises(CommandError, match="registered as other, but its calls say mail"):
        run(path, "--workflow", "other")
    with pytest.raises(CommandError, match="Two of these workflows are registered as mail"):
        run(path, export(flow(*GUARDED), "second"))
    named = by_sql("Other", "explain_job", "{ workflow: 'b', job_id: '1' }", only="")
    with pytest.raises(CommandError, match="name several workflows: b, mail"):
        run(export(flow(*GUARDED, named), "third"))
    with pytest.raises(CommandError, match=r"cannot be read: No such file"):
        run("nowhere.json")


def test_a_baseline_lets_old_findings_through(export: Any, tmp_path: Path) -> None:
    """Adopting step by step: what was there is let through, what is new is not."""
    known = tmp_path / "baseline.txt"
    path = export(flow(TRIGGER, post("Send")))
    call_command("lint_workflows", path, write_baseline=str(known), stderr=StringIO())
    assert run(path, "--baseline", str(known), "--apply")[1] == 0
    more = export(flow(TRIGGER, post("Send"), post("Again")))
    said, code = run(more, "--baseline", str(known), version="2")
    assert (code, "Again" in said, " / Send:" in said) == (1, True, False)
