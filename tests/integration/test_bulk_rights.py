"""Many items at once: whose rights are asked, when, and what becomes of a set without them."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from ledger.models import AuditEvent
from review.bulk import run
from review.bulk_models import BulkSet
from tests.support import bulk, desk


def test_who_loses_the_right_stops_deciding_at_once(lab, olga):
    """The next item is not decided any more, the set rests, and the refusal is recorded."""
    bulk.letters(lab.owner, 3)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    User.objects.get(username="olga").groups.set([Group.objects.get(name="viewer")])
    run.run_once()
    assert bulk.outcomes(made) == [""] * 3
    made.refresh_from_db()
    assert (made.state, "Your role may not" in made.why) == ("paused", True)
    assert AuditEvent.objects.filter(
        op="record_access", outcome="wrong_role", actor="olga"
    ).exists()
    assert olga.post(f"{bulk.URL}{made.pk}/go-on/").status_code == 403


def test_a_closed_account_decides_nothing(lab, olga):
    """A person who left is nobody to decide as."""
    bulk.letters(lab.owner, 2)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    User.objects.filter(username="olga").update(is_active=False)
    run.run_once()
    assert bulk.decisions() == 0
    made.refresh_from_db()
    assert "account of the person who started it is closed" in made.why


def test_a_send_needs_the_second_factor_where_the_policy_says_so(lab, olga):
    """At the start, and again while it runs: the policy may come in between."""
    bulk.letters(lab.owner, 2)
    made = bulk.choose_all(olga, "kind=failed_job:")
    made.items.update(bars={})
    lab.owner.execute("UPDATE policies SET value = 'true' WHERE name = 'second_factor_for_sends'")
    answer = bulk.start(olga, made, "resend")
    assert answer.status_code == 403
    assert "second factor" in answer.text
    lab.owner.execute("UPDATE policies SET value = 'false' WHERE name = 'second_factor_for_sends'")
    bulk.start(olga, made, "resend")
    lab.owner.execute("UPDATE policies SET value = 'true' WHERE name = 'second_factor_for_sends'")
    run.run_once()
    assert bulk.decisions() == 0
    made.refresh_from_db()
    assert made.state == "paused"
    assert "second factor" in made.why


@pytest.mark.parametrize("right", ["bulk", "abandon"])
def test_both_rights_are_needed(lab, right):
    """The one for many at once, and the verb's own."""
    letters = bulk.letters(lab.owner, 1)
    user = desk.person("hal", "operator")
    made = BulkSet.objects.create(made_by=user, chosen="x", total=1, checksum="c")
    made.items.create(position=1, source="failed_job", item_id=letters[0], version=1)
    operator = Group.objects.get(name="operator")
    user.user_permissions.set(operator.permissions.exclude(codename=right))
    user.groups.clear()
    client = Client()
    client.force_login(user)
    assert bulk.start(client, made, "abandon").status_code == 403
    answer = client.post(bulk.URL, {"item": f"failed_job:{letters[0]}"})
    assert answer.status_code == (403 if right == "bulk" else 302)
    run.run_once()
    assert bulk.decisions() == 0


def test_a_set_of_somebody_else_is_not_started(lab, olga):
    """Decisions carry the name of who chose the items and read the preview."""
    bulk.letters(lab.owner, 1)
    made = bulk.choose_all(olga, "kind=failed_job:")
    otto = desk.client_of("otto", "operator")
    assert "Only olga, who chose it, can start it." in otto.get(f"{bulk.URL}{made.pk}/").text
    assert bulk.start(otto, made, "abandon").status_code == 403
    made.refresh_from_db()
    assert made.state == "preview"
