"""How long a log-in lasts, and what ends it."""

import time

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.support import desk

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/admin/me/"


def logged_in(name: str = "olga") -> Client:
    """Log in through the form."""
    client = Client()
    form = {"username": name, "password": desk.PASSWORD, "next": PAGE}
    assert client.post("/admin/login/", form)["Location"] == PAGE
    return client


def inside(client: Client) -> bool:
    """Say whether a page opens, or the log-in is asked for again."""
    answer = client.get(PAGE)
    assert answer.status_code in (200, 302)
    return answer.status_code == 200


def set_age(client: Client, **marks: int) -> None:
    """Make a session older."""
    session = client.session
    session.update(marks)
    session.save()


def test_a_log_in_gets_a_new_session(transactional_db):
    """A key from before the log-in is worth nothing after it."""
    desk.person("olga", "operator")
    client = Client()
    session = client.session
    session["planted"] = "x"
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = planted = session.session_key
    form = {"username": "olga", "password": desk.PASSWORD, "next": PAGE}
    client.post("/admin/login/", form)
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != planted
    assert inside(client)
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = planted
    assert not inside(thief)


def test_the_cookie_is_nobody_else_s(transactional_db):
    """No script reads it, no other site sends it with a form."""
    desk.person("olga", "operator")
    client = logged_in()
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert cookie["domain"] == ""
    client.get("/admin/me/second-factor/")
    assert client.cookies[settings.CSRF_COOKIE_NAME]["httponly"] is True


def test_without_a_page_it_ends_after_the_idle_time(transactional_db, owner_sql):
    """Each page begins the time anew; the policy of that moment counts."""
    desk.person("olga", "operator")
    client = logged_in()
    assert inside(client)
    left = Session.objects.get(pk=client.session.session_key).expire_date - timezone.now()
    assert 7_100 < left.total_seconds() <= 7_200
    owner_sql.execute("UPDATE policies SET value = '600' WHERE name = 'session_idle_s'")
    set_age(client, landed_seen=int(time.time()) - 61)
    assert inside(client)
    left = Session.objects.get(pk=client.session.session_key).expire_date - timezone.now()
    assert 500 < left.total_seconds() <= 600
    owner_sql.execute("UPDATE django_session SET expire_date = now()")
    assert not inside(client)


def test_it_ends_after_a_working_day_however_much_is_done(transactional_db, owner_sql):
    """The last stretch is as long as what is left of it."""
    desk.person("olga", "operator")
    client = logged_in()
    set_age(client, landed_began=int(time.time()) - 43_200 + 300, landed_seen=0)
    assert inside(client)
    left = Session.objects.get(pk=client.session.session_key).expire_date - timezone.now()
    assert left.total_seconds() <= 301
    set_age(client, landed_began=int(time.time()) - 43_201, landed_seen=0)
    assert not inside(client)
    assert Session.objects.count() == 0


def test_a_session_of_unknown_age_ends(transactional_db):
    """As one from before there was an age."""
    desk.person("olga", "operator")
    client = logged_in()
    session = client.session
    del session["landed_began"]
    session["landed_seen"] = 0
    session.save()
    assert not inside(client)


@pytest.mark.parametrize("name", ["session_idle_s", "session_absolute_s"])
def test_no_policy_locks_everybody_out(transactional_db, owner_sql, name):
    """There is a minute to log in and to set it right."""
    owner_sql.execute("UPDATE policies SET value = '0' WHERE name = %s", [name])
    desk.person("olga", "operator")
    assert inside(logged_in())


def test_between_two_minutes_a_page_writes_no_session(transactional_db):
    """One write a minute at most."""
    desk.person("olga", "operator")
    client = logged_in()
    inside(client)
    with CaptureQueriesContext(connection) as asked:
        assert inside(client)
    assert not [each for each in asked if "UPDATE" in each["sql"]]


def test_a_new_password_ends_every_other_log_in(transactional_db):
    """Here it goes on, elsewhere it ends."""
    desk.person("olga", "operator")
    here, elsewhere = logged_in(), logged_in()
    new = "quite another word 7"
    form = {"old_password": desk.PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/admin/password_change/", form).status_code == 302
    assert inside(here)
    assert not inside(elsewhere)


def test_a_password_set_by_an_administrator_ends_all(transactional_db):
    """Whoever had the old one is out."""
    olga = desk.person("olga", "operator")
    client = logged_in()
    olga.set_password("given by somebody 7")
    olga.save()
    assert not inside(client)


def test_who_is_closed_or_loses_the_staff_status_is_out_at_once(transactional_db):
    """Whatever the session says."""
    olga = desk.person("olga", "operator")
    client = logged_in()
    for change in ({"is_active": False}, {"is_active": True, "is_staff": False}):
        type(olga).objects.filter(pk=olga.pk).update(**change)
        assert not inside(client)
