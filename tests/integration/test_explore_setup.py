"""What Landed is set up with, changed through its pages: by whom, why, and never unseen."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from ledger.models import AuditEvent, FieldOwnership, Policy, Provider
from ledger.operations.audit import seal_audit
from ledger.operations.sweeps import take_sweep_lock
from review.items.addresses import item_url
from review.setup import SETUP
from sweeper.schedules import ENTRIES
from tests.support import desk
from tests.support.factories import FORCED, claimed, expire

NOWHERE = {source: f"/admin/setup/{source}/nobody/" for source in SETUP}


@pytest.fixture
def ada(transactional_db: None) -> Client:
    """Log an administrator in."""
    return desk.client_of("ada", "administrator")


def post(client: Client, source: str, name: str, decision: str, **form: Any) -> Any:
    """Press a button of a page of the set-up."""
    (verb,) = (each.verb for each in SETUP[source].decisions if each.decision == decision)
    filled = {"decision": decision, "reason": "as agreed <b>here</b>", **form}
    return client.post(f"{item_url(source, name)}{verb}/", filled)


def told(op: str) -> dict[str, Any]:
    """Return the last audit row of an operation."""
    return AuditEvent.objects.filter(op=op).order_by("-id").values().first()


def provider_form(client: Client, name: str, **changes: str) -> dict[str, str]:
    """Return the form of a provider's page as it stands, with what a person typed."""
    page = client.get(item_url("provider", name)).context["item"]
    return {ask.name: ask.value for ask in page.asks} | {
        "lock_version": str(page.lock_version),
        **changes,
    }


def test_a_policy_is_set_by_a_person_with_a_reason(ada):
    """Old and new value are in the audit and on the page, under the person's name."""
    done = post(ada, "policy", "undo_s", "set_policy", value="45", lock_version="1")
    assert "The policy is set" in done.text
    assert "undo_s is 45 s" in done.text
    assert "30 → 45" in done.text
    row = told("set_policy")
    assert (row["actor_kind"], row["actor"], row["outcome"]) == ("human", "ada", "won")
    assert (row["before"], row["after"]) == (30, 45)
    assert "<b>here" not in done.text
    policy = Policy.objects.get(pk="undo_s")
    assert (policy.value, policy.set_by, policy.source) == (45, "ada", "operator")
    again = post(ada, "policy", "undo_s", "set_policy", value="45", lock_version="2")
    assert "Nothing to change" in again.text
    late = post(ada, "policy", "undo_s", "set_policy", value="50", lock_version="1")
    assert "Somebody was faster" in late.text
    assert Policy.objects.get(pk="undo_s").value == 45


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"value": "soon"}, "Type a number."),
        ({"value": ""}, "Type a number."),
        ({"value": "1e5000"}, "Type a number."),
        ({"value": "9" * 200}, "Not allowed as it stands"),
        ({"value": "-1"}, "The value must lie between"),
        ({"value": "1.5"}, "The value must be a whole number"),
        ({"value": "45", "reason": " "}, "Say why."),
        ({"value": "45", "lock_version": "x"}, "Open the item again."),
    ],
)
def test_a_policy_that_cannot_be_is_not_set(ada, form, says):
    """The page says why, keeps what was typed, and nothing is changed."""
    answer = post(ada, "policy", "undo_s", "set_policy", **({"lock_version": "1"} | form))
    assert answer.status_code == 200
    assert says in answer.text
    assert Policy.objects.get(pk="undo_s").value == 30


def test_the_list_of_policies_links_who_set_one(ada):
    """The person's name leads to their page, as on every other page; no markup is shown as text."""
    post(ada, "policy", "undo_s", "set_policy", value="45", lock_version="1")
    page = ada.get("/admin/policies/?tab=ours").text
    ada_page = reverse("admin:auth_user_change", args=[User.objects.get(username="ada").pk])
    assert f'set by <a href="{ada_page}"><bdi>ada</bdi></a>' in page


def test_a_switch_is_a_choice(ada):
    """On and off, and no other word."""
    page = post(ada, "policy", "demo", "set_policy", value="yes", lock_version="1")
    assert "demo is on" in page.text
    assert 'role="note"><b>Demo.' in page.text
    wrong = post(ada, "policy", "demo", "set_policy", value="maybe", lock_version="2")
    assert "Choose yes or no." in wrong.text


def test_a_provider_is_changed_as_a_whole_or_not_at_all(store, ada):
    """What is wrong is said at each input; what is right is saved at the version it was read at."""
    name = Provider.objects.filter(class_field="forced_unique").exclude(name="(database)")[0].name
    bad = provider_form(ada, name, max_attempts="many", lease_seconds="", retry_horizon="x")
    answer = post(ada, "provider", name, "save_provider", **bad | {"class": "magic"})
    for says in ("Type a whole number.", "Type a number of days.", "Choose a class."):
        assert says in answer.text
    assert 'aria-invalid="true"' in answer.text
    form = provider_form(ada, name, max_attempts="7", heartbeat_seconds="")
    done = post(ada, "provider", name, "save_provider", **form)
    assert "The provider is saved" in done.text
    saved = Provider.objects.get(pk=name)
    assert (saved.max_attempts, saved.heartbeat_seconds) == (7, None)
    assert (told("save_provider")["actor_kind"], told("save_provider")["actor"]) == ("human", "ada")
    late = post(ada, "provider", name, "save_provider", **form | {"max_attempts": "9"})
    assert "Somebody was faster" in late.text
    unsafe = provider_form(ada, name, heartbeat_seconds="500", lease_seconds="600")
    refused = post(ada, "provider", name, "save_provider", **unsafe)
    assert "Not allowed as it stands" in refused.text
    assert Provider.objects.get(pk=name).max_attempts == 7


def test_an_archive_expiry_is_signed_and_never_too_short(store, ada):
    """Shorter than replays and margin is refused; the signature has the person's name."""
    name = Provider.objects.exclude(name__startswith="(")[0].name
    short = post(ada, "retention", name, "sign_archive_expiry", expiry_days="2")
    assert "Shorter than the replay horizon with its margin." in short.text
    assert (
        "Type a number"
        in post(ada, "retention", name, "sign_archive_expiry", expiry_days="ever").text
    )
    for huge in ("1e400", "nan", "inf", "-1"):
        answer = post(ada, "retention", name, "sign_archive_expiry", expiry_days=huge)
        assert "Type a number of days" in answer.text, huge
    done = post(ada, "retention", name, "sign_archive_expiry", expiry_days="400")
    assert "The expiry is signed" in done.text
    provider = Provider.objects.get(pk=name)
    assert (provider.archive_expiry.days, provider.archive_signed_by) == (400, "ada")


def test_a_field_is_marked_sensitive_and_ordinary_again(shop, ada):
    """For every workflow that may write it; the button that would change nothing is closed."""
    name = "customers/plan"
    page = ada.get(item_url("field", name)).text
    (closed,) = (each for each in page.split("<button") if 'value="unmark_sensitive"' in each)
    assert "It is ordinary." in closed
    assert "The field is sensitive" in post(ada, "field", name, "mark_sensitive").text
    marked = FieldOwnership.objects.filter(target="customers", field="plan")
    assert {each.sensitive for each in marked.all()} == {True}
    assert "sensitive" in ada.get("/admin/workflows/").text
    assert "The field is ordinary" in post(ada, "field", name, "unmark_sensitive").text
    assert {each.sensitive for each in marked.all()} == {False}


def test_the_matrix_shows_where_writers_met(shop, ada):
    """Who may write, how often they lost, and the record it was about, linked to its audit."""
    desk.collide()
    page = ada.get("/admin/workflows/").text
    assert '<td class="heat-4">' in page
    assert "lost</b>" in page
    assert "customers/1002" in page
    assert "/admin/audit/?by=record&amp;q=customers%2F1002" in page
    lines = ada.get("/admin/audit/", {"by": "record", "q": "customers/1002"}).context["lines"]
    assert {line.last for line in lines} == {"write_fields"}


def test_a_tick_is_run_now_and_says_for_whom(store, ada):
    """It does its work under the same lock; its audit rows name who asked."""
    job = claimed(store, FORCED)
    expire(store, job)
    done = post(ada, "tick", "sweep", "run_tick")
    assert "The tick ran" in done.text
    assert told("release_sweep_lock")["actor"].endswith(" for ada")
    assert store.rows("jobs", id=job.job_id)[0]["state"] == "queued"
    taken = take_sweep_lock(actor="another", name="sweep", lease_seconds=600)
    assert taken.outcome == "won"
    page = ada.get(item_url("tick", "sweep")).text
    assert "another runs it now." in page
    busy = post(ada, "tick", "sweep", "run_tick")
    assert "It runs already" in busy.text


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.tick)
def test_every_tick_of_the_schedule_can_be_run(transactional_db, ada, entry):
    """By its own page, and it is called by words."""
    page = ada.get(item_url("tick", entry.tick))
    assert "never ended well here" in page.text
    assert f"<bdi>{entry.tick}</bdi></h1>" not in page.text
    assert "The tick ran" in post(ada, "tick", entry.tick, "run_tick").text


def test_the_newest_seals_are_verified(store, ada):
    """Whole, or broken with what is broken; a viewer may look, too."""
    vera = desk.client_of("vera", "viewer")
    assert "Nothing is sealed yet" in vera.get(item_url("seals", "newest")).text
    claimed(store, FORCED)
    assert seal_audit(actor="test").n
    assert "The audit is whole" in post(vera, "seals", "newest", "verify_audit").text
    owner = store.owner
    owner.execute("ALTER TABLE audit_events DISABLE TRIGGER USER")
    owner.execute("UPDATE audit_events SET reason = 'forged' WHERE op = 'claim_job'")
    owner.execute("ALTER TABLE audit_events ENABLE TRIGGER USER")
    broken = post(vera, "seals", "newest", "verify_audit")
    assert "The audit is broken" in broken.text
    row = AuditEvent.objects.get(op="claim_job")
    assert f"row {row.pk}" in broken.text


CHANGES = [
    (source, each) for source, kind in SETUP.items() for each in kind.decisions if source != "seals"
]


@pytest.mark.parametrize(
    ("source", "decision"), CHANGES, ids=[f"{name}-{each.decision}" for name, each in CHANGES]
)
def test_who_may_not_administer_changes_nothing(shop, source, decision):
    """Not an operator, not an approver: 403 in plain words, no form, no audit row of a change."""
    name = {"policy": "undo_s", "field": "customers/plan", "tick": "sweep"}.get(source, "(unknown)")
    for role in ("viewer", "operator", "approver"):
        client = desk.client_of(role, role)
        page = client.get(item_url(source, name))
        assert page.status_code == 200
        (button,) = (
            each.split(">")[0]
            for each in page.text.split("<button")
            if f'value="{decision.decision}"' in each
        )
        assert " disabled" in button
        assert 'id="ask-' not in page.text
        answer = post(client, source, name, decision.decision, value="1", lock_version="1")
        assert answer.status_code == 403
        assert "Your role may not" in answer.text
    assert not AuditEvent.objects.filter(op__in=CHANGING, actor_kind="human").exists()


CHANGING = ("set_policy", "save_provider", "sign_archive_expiry", "mark_field_sensitive")


def test_what_is_not_set_up_is_not_found(ada):
    """Neither a row, nor a decision, nor a verb of another page."""
    for path in NOWHERE.values():
        assert ada.get(path).status_code == 404, path
        assert ada.post(f"{path}administer/", {"decision": "set_policy"}).status_code == 404
    policy = item_url("policy", "undo_s")
    for verb, decision in (("administer", "run_tick"), ("resolve", "set_policy"), ("x", "y")):
        assert ada.post(f"{policy}{verb}/", {"decision": decision}).status_code == 404
    assert ada.get(f"{policy}administer/").status_code == 302
