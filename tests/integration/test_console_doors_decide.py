"""Decisions through the doors beside the pages: under a name, by the right of the moment."""

from django.contrib.auth.models import User
from django.test import Client

from ledger.models import AuditEvent, Conflict, Policy, Provider
from tests.support import desk, losses


def version(number: int) -> int:
    """Return the version of a conflict."""
    return int(Conflict.objects.get(pk=number).lock_version)


def test_a_conflict_is_decided_with_the_values_named(lab, door):
    """Under the person's name and reason; the second one hears that it is decided."""
    number = desk.collide()
    olga = door("olga", "operator")
    page = Client()
    page.force_login(User.objects.get(username="olga"))
    seen = page.get(f"/admin/queue/conflict/{number}/").context["item"]
    typed = {
        "decision": "merge",
        "lock_version": seen.lock_version,
        "revision_seen": seen.revision_seen,
        "changes": {"phone": "+49 30 5555"},
        "reason": "the form is newer",
    }
    done = olga(f"queue/conflict/{number}/resolve", **typed)
    assert (done.good, done.row["outcome"]) == (True, "won"), done
    assert "now" in done.row["sentence"] or done.row["title"]
    assert desk.customer(lab.owner)["phone"] == "+49 30 5555"
    row = AuditEvent.objects.filter(op="decide_conflict").latest("id")
    assert (row.actor, row.actor_kind) == ("olga", "human")
    assert row.reason.startswith("the form is newer")
    again = olga(f"queue/conflict/{number}/resolve", **typed)
    assert (again.good, again.row["outcome"]) == (False, "already_decided")
    assert again.row["title"] == "Already decided"


def test_what_is_missing_or_wrong_is_named(lab, door):
    """And nothing is asked of the ledger."""
    number = losses.unknown_send(lab)
    olga = door("olga", "operator")
    before = AuditEvent.objects.count()
    address = f"queue/conflict/{number}/resolve"
    typed = {"decision": "landed", "lock_version": version(number), "reason": "seen"}
    for wrong, said in (
        ({"reason": None}, "reason"),
        ({"decision": "vanish"}, "decision"),
        ({"decision": "keep"}, "Press one of the buttons"),
        ({"typo": "x"}, "typo"),
    ):
        given = {name: value for name, value in {**typed, **wrong}.items() if value is not None}
        answer = olga(address, **given)
        assert not answer.good
        assert said in answer.text
    for nowhere in ("queue/conflict/99999/abandon", "queue/job/none/abandon"):
        assert "No such item" in olga(nowhere, reason="x", lock_version=1).text
    assert AuditEvent.objects.count() == before
    assert olga(address, **typed).row["outcome"] == "won"


def test_a_right_that_is_taken_away_is_gone_at_the_next_call(lab, door):
    """A token carries a person's rights, it does not keep them; a closed account has none."""
    number = losses.unknown_send(lab)
    olga = door("olga", "operator")
    User.objects.get(username="olga").groups.clear()
    typed = {"reason": "x", "lock_version": version(number)}
    assert not olga(f"queue/conflict/{number}/abandon", **typed).good
    User.objects.filter(username="olga").update(is_active=False)
    assert not olga(f"queue/conflict/{number}/abandon", **typed).good
    assert Conflict.objects.get(pk=number).state == "open"


def test_what_may_send_needs_a_second_factor_where_a_policy_says_so(lab, door):
    """No token and no shell has one."""
    number = losses.unknown_send(lab)
    lab.owner.execute("UPDATE policies SET value = 'true' WHERE name = 'second_factor_for_sends'")
    olga = door("olga", "operator")
    typed = {"reason": "x", "lock_version": version(number), "risk_acknowledged": True}
    refused = olga(f"queue/conflict/{number}/resend", **typed)
    assert not refused.good
    assert "second factor" in refused.text
    row = AuditEvent.objects.filter(op="record_access").latest("id")
    assert row.after["event"] == "second_factor_missing"
    lab.owner.execute("UPDATE policies SET value = 'false' WHERE name = 'second_factor_for_sends'")
    assert olga(f"queue/conflict/{number}/resend", **typed).good
    back = olga(f"queue/conflict/{number}/withdraw", lock_version=version(number))
    assert back.row["title"] == "Taken back"


def test_changed_content_is_shown_before_it_is_sent(lab, door):
    """Twice the same call: the first says what differs, the second sends exactly that."""
    number = losses.unknown_send(lab)
    ada = door("ada", "administrator")
    typed = {
        "payload": {"to": "ada@example.com", "subject": "anew"},
        "key": "new",
        "event": {"id": "evt_anew"},
        "reason": "the address was wrong",
        "risk_acknowledged": True,
        "lock_version": version(number),
    }
    first = ada(f"queue/conflict/{number}/edit", **typed)
    assert (first.good, first.row["title"]) == (False, "Not sent yet"), first
    seal = first.row["detail"]["shown"]
    other = {**typed, "payload": {"to": "eve@example.com"}}
    assert not ada(f"queue/conflict/{number}/edit", **other, shown=seal).good
    assert Conflict.objects.get(pk=number).state == "open"
    done = ada(f"queue/conflict/{number}/edit", **typed, shown=seal)
    assert done.row["outcome"] in ("won", "needs_second_person"), done
    assert not door("olga", "operator")(f"queue/conflict/{number}/edit", **typed).good


def test_the_set_up_is_changed(lab, door):
    """A policy, one value of a provider, its retention, a field; a tick and the seals are run."""
    ada = door("ada", "administrator")
    typed = {"value": 45, "reason": "as agreed", "lock_version": 1}
    assert ada("setup/policy/undo_s/administer", **typed).row["title"] == "The policy is set"
    assert Policy.objects.get(pk="undo_s").value == 45
    assert not ada("setup/policy/undo_s/administer", **{**typed, "value": 46}).good
    provider = Provider.objects.exclude(name__startswith="(").order_by("name").first()
    assert provider is not None
    saved = ada(
        f"setup/provider/{provider.name}/administer",
        settle_seconds=provider.settle_seconds + 60,
        reason="slower",
        lock_version=provider.version,
    )
    assert saved.row["title"] == "The provider is saved", saved
    after = Provider.objects.get(pk=provider.name)
    assert after.settle_seconds == provider.settle_seconds + 60
    assert after.class_field == provider.class_field
    signed = ada(f"setup/retention/{after.name}/administer", expiry_days=4000, reason="agreed")
    assert signed.row["title"] == "The expiry is signed"
    field = ada(
        "setup/field/customers/phone/administer", decision="mark_sensitive", reason="a number"
    )
    assert field.row["title"] == "The field is sensitive"
    assert ada("setup/tick/promote_conflicts/administer").row["title"] == "The tick ran"
    assert ada("setup/tick/seal_audit/administer").good
    assert ada("setup/seals/newest/verify").row["title"] == "The audit is whole"
