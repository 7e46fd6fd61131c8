"""The console's verbs through a person's token and through the command: none is without a door."""

import json
import re
from collections.abc import Iterator
from io import StringIO

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import translation

from ledger.api.snapshot import current
from ledger.models import AuditEvent
from ledger.operations.tokens import issue_token
from review.bulk import asked
from review.doors.table import verbs
from review.management.commands.console import _find
from review.rights import VIEW
from review.saved import DEEDS as VIEW_DEEDS
from review.setup import SETUP
from review.sources import SOURCES
from review.together.deeds import DEEDS
from review.verbs import AS_SHOWN, decisions_of
from tests.support import desk

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
    "review_language",  # changes the page, not what it is about
    "review_preview",
    "review_second_factor",
}


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


def test_a_door_describes_its_verbs_in_english_whoever_asks_first():
    """The table is made once, perhaps within the request of somebody who reads another language."""
    with translation.override("de"):
        assert {verb.says for verb in verbs.__wrapped__().values()} == {
            verb.says for verb in verbs().values()
        }


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
