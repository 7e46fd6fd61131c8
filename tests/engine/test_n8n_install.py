"""`manage.py n8n install` on a real n8n: once or again, and not over what somebody changed."""

import itertools
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from ledger.models import ApiKey, Effect, Workflow, WorkflowDeploy
from sweeper import drift
from sweeper.n8n import templates
from tests.support.processes import wait_until
from tests.support.shipped import Shipped, named

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "guarded-webhook-http"


def install(here: Shipped, *more: str) -> str:
    """Run the command; return what it says."""
    said = StringIO()
    places = ("--console", here.addresses.console, "--receiver", here.addresses.receiver)
    try:
        call_command("n8n", "install", NAME, *places, *more, stdout=said)
    finally:
        for name in (NAME, templates.ERRORS):
            if found := here.installer().find(name):
                here.ids[name] = found["id"]
    return said.getvalue()


def drifted() -> tuple[str, ...]:
    """Look for drift; return the workflows that were changed."""
    report = drift.run_once().report
    assert report is not None
    assert report.unreachable == {}
    return report.changed


def test_a_workflow_is_installed_once_and_brought_up_to_date(here: Shipped) -> None:
    """The second time changes nothing; a change in n8n is kept unless it is to be replaced."""
    first = install(here, "--activate")
    assert f"{NAME}: installed" in first
    assert first.count("it runs") == 2
    assert here.deliver(NAME, {"id": "k1"}).status == 200

    workflow = Workflow.objects.get(pk=NAME)
    assert (workflow.n8n_workflow_id, workflow.sends_dominated) == (here.ids[NAME], True)
    assert str(workflow.editor_url).endswith(f"/workflow/{here.ids[NAME]}")
    effect = Effect.objects.get(pk="order_notice")
    assert (effect.workflow_id, effect.provider_id) == (NAME, "example-receiver")
    (key,) = ApiKey.objects.filter(workflow=NAME)
    assert key.scopes == ["jobs"]

    assert f"{NAME}: as it was" in install(here)
    assert WorkflowDeploy.objects.filter(workflow=NAME).count() == 1
    assert ApiKey.objects.filter(workflow=NAME).count() == 1

    document = here.document(NAME)
    named(document, "Send")["parameters"]["url"] = f"{here.receiver.url}/mail"
    here.edit(NAME, document)
    with pytest.raises(CommandError, match="somebody changed it"):
        install(here)
    wait_until(lambda: drifted() == (NAME,), "the change is seen")
    assert f"{NAME}: updated" in install(here, "--replace")
    numbers = itertools.count(2)  # n8n takes the new text a moment after it says so
    wait_until(lambda: here.deliver(NAME, {"id": f"k{next(numbers)}"}).status == 200, "it is back")
    assert set(here.effects().values()) == {1}
    assert drifted() == ()


def test_what_is_missing_is_said(here: Shipped) -> None:
    """An unknown n8n, a key that may not do it, a name that is not there."""
    with pytest.raises(CommandError, match="No n8n is known as other"):
        install(here, "--instance", "other")
    with pytest.raises(CommandError, match="There is no template mail"):
        call_command("n8n", "install", "mail")
    weak = here.n8n.running.owner.make_key("weak", ["execution:read"])
    key = here.n8n.home.directory / "setup-key"
    kept = key.read_text()
    key.write_text(weak)
    try:
        with pytest.raises(CommandError, match=r"workflow:create.*credential:create"):
            call_command("n8n", "install", NAME, "--console", "http://x", "--receiver", "http://x")
    finally:
        key.write_text(kept)
