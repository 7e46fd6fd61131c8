"""`manage.py provider`: a service is added without code, through the operation, and explained."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.utils.html import escape

from ledger.models import AuditEvent, Job, Provider
from ledger.operations.registrations import save_provider
from review.queue import item_url
from sweeper import profiles
from tests.support import desk, losses
from tests.support.lab import running_lab

pytestmark = pytest.mark.django_db(transaction=True)

Run = Callable[..., str]


@pytest.fixture
def provider() -> Run:
    """Run the command and return what it printed."""

    def run(*words: str) -> str:
        out = StringIO()
        call_command("provider", *words, stdout=out)
        return out.getvalue()

    return run


def test_a_provider_is_registered_from_its_profile(
    provider: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row has the class, the lifetime and the look-up; the audit says who and why."""
    monkeypatch.delenv("LANDED_SECRET_STRIPE", raising=False)
    told = provider("add", "payments", "--profile", "stripe", "--reason", "we charge with it")
    row = Provider.objects.get(name="payments")
    assert (row.class_field, row.lookup_adapter, row.key_ttl_seconds) == (
        "forced_unique",
        "http_key",
        86_400,
    )
    assert (row.caches_errors, row.lookup_by_reference, row.mismatch) == (True, True, "error")
    assert row.lookup_config["send"]["headers"] == {
        "Authorization": "Bearer {env:LANDED_SECRET_STRIPE}"
    }
    assert isinstance(row.profile, dict)
    assert (row.profile["name"], row.profile["status"]) == ("stripe", "documented")
    assert "put {provider_key} into: header Idempotency-Key" in told
    assert "Not set in this process: LANDED_SECRET_STRIPE." in told
    audit = AuditEvent.objects.filter(op="save_provider").latest("id")
    assert audit.actor.startswith("command:")
    assert audit.reason == "we charge with it"


@pytest.mark.parametrize("name", profiles.names())
def test_every_profile_of_the_gallery_can_be_registered(provider: Run, name: str) -> None:
    """The database's own rules agree with what each profile claims."""
    asked = profiles.read(name).settings.values()
    words = [f"--set={each.name}={each.example}" for each in asked if each.default is None]
    provider("add", "it", "--profile", name, *words)
    assert Provider.objects.get(name="it").profile["name"] == name
    assert f" {name}\n" in provider("list")
    assert "lookup_config" in provider("show", "it")


def test_what_is_registered_is_changed_only_on_purpose(provider: Run) -> None:
    """A second add is refused; --replace moves the version on, the same again does nothing."""
    add = ("add", "files", "--profile", "s3", "--set=endpoint=https://s3.test", "--set=region=r")
    provider(*add, "--set=bucket=one")
    with pytest.raises(CommandError, match="registered already; --replace changes it"):
        provider(*add, "--set=bucket=two")
    assert "version 2" in provider(*add, "--set=bucket=two", "--replace")
    assert "nothing differs" in provider(*add, "--set=bucket=two", "--replace")
    assert Provider.objects.get(name="files").lookup_config["bucket"] == "two"


def test_another_profile_leaves_nothing_of_the_first(provider: Run) -> None:
    """A lifetime that was claimed of keys does not stay behind on a provider that knows none."""
    provider("add", "it", "--profile", "stripe")
    provider("add", "it", "--profile", "telegram", "--replace")
    row = Provider.objects.get(name="it")
    assert (row.class_field, row.key_ttl_seconds, row.caches_errors, row.lookup_config) == (
        "advisory_blind",
        None,
        False,
        {},
    )


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--profile", "nobody"], "there is no profile 'nobody'; known are airtable"),
        (["--profile", "slack"], "slack needs channel: the channel's id"),
        (["--profile", "slack", "--set", "chanel=C1"], "slack has no setting 'chanel'"),
        (["--profile", "slack", "--set", "channel"], "--set takes NAME=VALUE"),
        (
            ["--profile", "idempotency-key", "--set", "key_ttl_seconds=a day"],
            "key_ttl_seconds is a whole number",
        ),
        (
            ["--profile", "n8n-webhook", "--set", "url=https://a.test", "--set", "claims_first=no"],
            "claims_first is yes",
        ),
        (["--profile", "webhook", "--set", "url=https://{env:HOME}"], "unknown placeholder"),
    ],
)
def test_a_mistake_is_explained_and_nothing_is_saved(
    provider: Run, words: list[str], complaint: str
) -> None:
    """The message names the setting and what it is for."""
    with pytest.raises(CommandError, match=complaint):
        provider("add", "it", *words)
    assert not Provider.objects.filter(name="it").exists()


def test_a_service_of_ones_own_is_a_file(provider: Run, tmp_path: Path) -> None:
    """No change of this program: a profile is a path."""
    mine = tmp_path / "invoices.toml"
    text = (profiles.GALLERY / "resend.toml").read_text()
    mine.write_text(text.replace("https://api.resend.com/emails", "https://invoices.test/v1"))
    provider("add", "invoices", "--profile", str(mine))
    row = Provider.objects.get(name="invoices")
    assert row.lookup_config["send"]["url"] == "https://invoices.test/v1"


def test_the_gallery_is_told(provider: Run) -> None:
    """Each profile in a line, and one in full with its page and its date."""
    listed = provider("profiles")
    assert len(listed.splitlines()) == len(profiles.names())
    told = provider("show", "gmail")
    assert "https://developers.google.com/gmail/api" in told
    assert "documented, read 2026-11-30" in told
    assert "from: the sender" in told


def test_the_page_of_an_uncertain_send_says_what_to_check(owner_sql: psycopg.Connection) -> None:
    """With this effect's own handle in it, and whatever a profile holds as text."""
    desk.open_shop(owner_sql)
    client = desk.client_of("olga", "operator")
    with running_lab(owner_sql) as lab:
        page = item_url("conflict", losses.unknown_send(lab))
    job = Job.objects.get(state="review")
    assert "What to check by hand" not in client.get(page).text
    hints = {"check": ["Search for {handle}.", "<b>{nobody}</b>"]}
    row = Provider.objects.get(name=job.provider)
    saved = save_provider(
        actor="test", name=row.name, class_=row.class_field, reason="test", profile=hints
    )
    assert saved.outcome == "won"
    shown = client.get(page).text
    assert "What to check by hand" in shown
    assert f"Search for {escape(job.handle)}." in shown
    assert "&lt;b&gt;{nobody}&lt;/b&gt;" in shown
