"""The console's verbs through a person's token and through the command: none is without a door."""

import json
import re
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django_otp.plugins.otp_totp.models import TOTPDevice

from ledger.api.snapshot import current
from ledger.models import AuditEvent, Conflict, Policy, Provider
from ledger.operations.tokens import issue_token
from review.bulk import asked, run
from review.doors.table import verbs
from review.management.commands.console import _find
from review.models import Attention, BulkSet, Note, SavedView
from review.rights import VIEW
from review.saved import DEEDS as VIEW_DEEDS
from review.setup import SETUP
from review.sources import SOURCES
from review.together.deeds import DEEDS
from review.verbs import AS_SHOWN, decisions_of
from tests.support import bulk, desk, losses

# Addresses of buttons that a verb stands behind, and what is posted that is no verb: log-ins and
# second factors, the page itself. People's accounts are Django's own forms.
BUTTONS = {
    "review_act",
    "review_act_other",
    "review_act_setup",
    "review_share",
    "review_edit",
    "review_reset_factor",
    "review_bulk",
    "review_bulk_order",
    "review_view_save",
    "review_view_change",
}
NO_VERBS = {
    "review_code",
    "review_explain_key",  # a look-up: POST /keys/lookup
    "review_here",
    "review_preview",
    "review_second_factor",
}


class Answer(NamedTuple):
    """What a door said: whether it was good, and its row or its words."""

    good: bool
    row: dict[str, Any]
    text: str


type Press = Callable[..., Answer]


def over_http(name: str) -> Press:
    """Press buttons with a token of a person."""
    token = issue_token(actor="test", reason="test", user_name=name).token

    def press(address: str, **typed: Any) -> Answer:
        answer = Client().post(
            f"/api/v1/{address}",
            json.dumps(typed),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        return Answer(answer.status_code < 400, json.loads(answer.text), answer.text)

    return press


def in_a_shell(name: str) -> Press:
    """Press buttons with the command, as a person."""

    def press(address: str, **typed: Any) -> Answer:
        words = []
        for field, value in typed.items():
            text = value if isinstance(value, str) else json.dumps(value)
            words.append(f"{field}={','.join(value) if isinstance(value, list) else text}")
        out = StringIO()
        try:
            call_command("console", address, *words, person=name, stdout=out)
        except CommandError as error:
            said = out.getvalue()
            row = json.loads(said) if said else {}
            return Answer(good=False, row=row, text=f"{said}{error}")
        return Answer(good=True, row=json.loads(out.getvalue()), text=out.getvalue())

    return press


DOORS = {"http": over_http, "shell": in_a_shell}


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Callable[[str, str], Press]:
    """Give a door: somebody in a role presses buttons through it."""

    def open_for(name: str, role: str) -> Press:
        if not User.objects.filter(username=name).exists():
            desk.person(name, role)
        return DOORS[request.param](name)

    return open_for


def version(number: int) -> int:
    """Return the version of a conflict."""
    return int(Conflict.objects.get(pk=number).lock_version)


# -- none is missing -----------------------------------------------------------------------------


def addresses(resolver: URLResolver) -> Iterator[URLPattern]:
    """Walk every address of the site."""
    for each in resolver.url_patterns:
        if isinstance(each, URLPattern):
            yield each
        else:
            yield from addresses(each)


def test_every_posted_address_is_a_button_of_the_table_or_no_verb(transactional_db):
    """A new form of the console is either a verb with its doors, or named here."""
    root = desk.client_of("ada", "administrator")
    User.objects.update(is_superuser=True)
    posted = set()
    for each in addresses(get_resolver()):
        if not (each.name or "").startswith("review_"):
            continue
        filled = re.sub(r"<int:\w+>", "1", str(each.pattern))
        filled = re.sub(r"<\w+:\w+>", "x", filled)
        if root.post(f"/admin/{filled}").status_code != 405:
            posted.add(each.name)
    assert posted - NO_VERBS == BUTTONS


def test_every_button_has_a_route_and_a_command():
    """Every decision of every kind, every deed, every order of a set, every deed with a view."""
    wanted = {
        (source, each.verb, each.decision)
        for source in ("conflict", *SOURCES, *SETUP)
        for each in decisions_of(source)
    }
    table = verbs()
    for source, verb, decision in wanted:
        place = "setup" if source in SETUP else "queue"
        found = table[f"{place}_{source}_{verb.replace('-', '_')}"]
        words = ("apply", "merge") if decision == AS_SHOWN else (decision,)
        assert set(words) <= set(found.decisions), found.path
    for name in DEEDS:
        assert f"queue_together_{name.replace('-', '_')}" in table
    for name in asked.ORDERS:
        assert f"bulk_{name.replace('-', '_')}" in table
    assert set(VIEW_DEEDS) - {"save"} == {
        name.removeprefix("queue_views_") for name in table if name.startswith("queue_views_")
    }
    described = json.loads(current())["paths"]
    for name, each in table.items():
        route = described[f"/api/v1{each.path}"][each.method.lower()]
        assert route["operationId"] == name
        found, path = _find(re.sub(r"\{\w+\}", "7", each.path))
        assert (found.name, set(path.values()) <= {"7"}) == (name, True)


# -- the same through both -----------------------------------------------------------------------


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


def test_nobody_gets_past_a_button_they_may_not_press(transactional_db):
    """Through either door, and each refusal is a row of the audit."""
    for name, verb in verbs().items():
        user = User.objects.create_user(name)
        if verb.right != VIEW:
            user.user_permissions.set(Permission.objects.filter(codename="view"))
        address = re.sub(r"\{\w+\}", "1", verb.path).strip("/")
        token = issue_token(actor="test", reason="test", user_name=name).token
        answer = Client().generic(
            verb.method, f"/api/v1/{address}", headers={"Authorization": f"Bearer {token}"}
        )
        assert (answer.status_code, json.loads(answer.text)["code"]) == (403, "missing_right")
        with pytest.raises(CommandError, match="may not"):
            call_command("console", address, person=name)
        rows = AuditEvent.objects.filter(op="record_access", actor=name)
        told = [(row.outcome, row.after["right"]) for row in rows]
        assert told == [("wrong_role", verb.right)] * 2, name
        assert {row.after["page"].split(" ")[0] for row in rows} == {verb.method, "manage.py"}


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


def test_items_are_shared(lab, door):
    """Claim, comment, put off; who has it is said to who comes second."""
    number = losses.unknown_send(lab)
    olga, otto = door("olga", "operator"), door("otto", "operator")
    here = f"queue/conflict/{number}/together"
    assert olga(f"{here}/claim").good
    second = otto(f"{here}/claim")
    assert (second.good, second.row["outcome"]) == (False, "held_by_other")
    assert "olga has it" in second.row["sentence"]
    assert otto(f"{here}/comment", text="I called them").good
    assert olga(f"{here}/snooze", until="4h", text="they call back").good
    assert Attention.objects.get().claimed_by == "olga"
    assert Note.objects.get(by="otto").text.startswith("I called them")
    assert not otto("setup/policy/undo_s/together/claim").good


def test_many_are_decided_together(lab, door):
    """Frozen by filter or by name, started by its checksum, stopped when it is over."""
    ids = bulk.letters(lab.owner, 3)
    olga = door("olga", "operator")
    assert not olga("bulk", query="order=newest").good
    made = olga("bulk", query="?kind=failed_job:")
    assert (made.row["detail"]["items"], made.row["detail"]["choices"]["abandon"]["items"]) == (
        3,
        3,
    )
    address = f"bulk/{made.row['detail']['set']}"
    typed = {"choice": "abandon", "reason": "all of them are old"}
    assert "another set" in olga(f"{address}/start", **typed, checksum="0" * 64).text
    started = olga(f"{address}/start", **typed, checksum=made.row["detail"]["checksum"])
    assert started.row["detail"]["state"] == "running"
    run.run_once()
    assert bulk.outcomes(BulkSet.objects.get()) == ["taken"] * 3
    late = olga(f"{address}/pause")
    assert (late.good, late.row["outcome"]) == (False, "already_decided")
    (more,) = bulk.letters(lab.owner, 1)
    named = olga("bulk", items=[f"failed_job:{more}", f"failed_job:{ids[0]}"])
    assert named.row["detail"]["items"] == 1


def test_views_are_kept(transactional_db, door):
    """One's own, shared by who may."""
    anna, olga = door("anna", "approver"), door("olga", "operator")
    number = anna("queue/views", name="Sends", query="tab=sends").row["detail"]["view"]
    assert not olga(f"queue/views/{number}/delete").good
    assert anna(f"queue/views/{number}/share").good
    assert anna(f"queue/views/{number}/rename", name="Uncertain").good
    assert SavedView.objects.get().name == "Uncertain"
    assert "somebody else" in olga(f"queue/views/{number}/delete").text
    assert anna(f"queue/views/{number}/delete").good


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


def test_a_second_factor_is_taken_away(transactional_db, door):
    """Under the name of who does it; a superuser's only by a superuser."""
    ada, otto = door("ada", "administrator"), desk.person("otto", "operator")
    TOTPDevice.objects.create(user=otto, name="telephone", confirmed=True)
    assert not ada("people/otto/second-factor", reason=" ").good
    assert ada("people/otto/second-factor", reason="lost it").good
    assert not TOTPDevice.objects.exists()
    row = AuditEvent.objects.filter(op="record_access").latest("id")
    assert (row.actor, row.key, row.reason[:7]) == ("ada", "access:otto", "lost it")
    User.objects.filter(username="otto").update(is_superuser=True)
    assert "Only a superuser" in ada("people/otto/second-factor", reason="lost it").text


def test_what_waits_is_seen_before_it_is_decided(lab, olga):
    """The queue and an item: the version to name, and what may be done; no content."""
    number = desk.collide(phone="+49 30 7777")
    desk.person("vera", "viewer")
    token = issue_token(actor="test", reason="test", user_name="vera").token
    headers = {"Authorization": f"Bearer {token}"}
    found = Client().get("/api/v1/queue?tab=conflicts", headers=headers)
    (row,) = json.loads(found.text)["detail"]["items"]
    assert (row["source"], row["item_id"]) == ("conflict", str(number))
    seen = Client().get(f"/api/v1/queue/conflict/{number}", headers=headers)
    detail = json.loads(seen.text)["detail"]
    assert detail["lock_version"] == version(number)
    assert "Your role may not" in detail["decisions"][0]["not_now"]
    assert "+49" not in seen.text + found.text
    assert Client().get("/api/v1/queue?kind=x", headers=headers).status_code == 422
    assert Client().get("/api/v1/queue/conflict/999", headers=headers).status_code == 404
    out = StringIO()
    call_command("console", "queue", "tab=conflicts", person="vera", stdout=out)
    assert json.loads(out.getvalue())["detail"]["items"] == [row]


def test_the_audit_is_taken_and_that_is_recorded(lab, olga):
    """Under the words of its page; what is no word of it is refused."""
    number = desk.collide()
    olga.post(f"/admin/queue/conflict/{number}/abandon/", {"lock_version": 3, "reason": "x"})
    token = issue_token(actor="test", reason="test", user_name="olga").token
    headers = {"Authorization": f"Bearer {token}"}
    address = f"/api/v1/audit/export?by=item&q={number}"
    rows = json.loads(Client().get(address, headers=headers).text)["detail"]["rows"]
    assert {row["conflict_id"] for row in rows} == {number}
    out = StringIO()
    call_command("console", "audit/export", "by=item", f"q={number}", person="olga", stdout=out)
    assert json.loads(out.getvalue())["detail"]["rows"] == rows
    taken = AuditEvent.objects.filter(op="record_access", after__event="audit_exported")
    assert [row.actor for row in taken] == ["olga", "olga"]
    assert Client().get("/api/v1/audit/export?by=moon", headers=headers).status_code == 422


def test_the_command_lists_every_button_and_wants_somebody(transactional_db):
    """Nobody decides without a name."""
    out = StringIO()
    call_command("console", stdout=out)
    assert all(verb.path.lstrip("/") in out.getvalue() for verb in verbs().values())
    for person in (None, "nobody"):
        with pytest.raises(CommandError, match="the name of an open account"):
            call_command("console", "queue", person=person)
    with pytest.raises(CommandError, match="No button has the address"):
        call_command("console", "queue/conflict/1/vanish", person="x")
