"""Accounts of the console: who makes them, what each role holds, and what a log-in says."""

from django.contrib.auth.models import Group, User
from django.test import Client

from review.rights import ROLES
from tests.support import desk


def test_an_administrator_makes_people_but_no_superuser(transactional_db):
    """Whoever hands out roles cannot hand out more than roles."""
    adam = desk.client_of("adam", "administrator")
    boss = User.objects.create_superuser("boss", password=desk.PASSWORD)
    new = {"username": "nina", "password1": desk.PASSWORD, "password2": desk.PASSWORD}
    adam.post("/admin/auth/user/add/", new | {"usable_password": "true"})
    nina = User.objects.get(username="nina")
    form = {
        "username": "nina",
        "is_staff": "on",
        "is_active": "on",
        "is_superuser": "on",
        "groups": [str(Group.objects.get(name="operator").pk)],
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
    }
    adam.post(f"/admin/auth/user/{nina.pk}/change/", form)
    nina.refresh_from_db()
    assert (nina.is_superuser, [group.name for group in nina.groups.all()]) == (False, ["operator"])
    password = {"password1": "taken over 123", "password2": "taken over 123"}
    assert adam.post(f"/admin/auth/user/{boss.pk}/password/", password).status_code == 403
    assert adam.post("/admin/auth/group/add/", {"name": "gods"}).status_code == 403


def test_a_person_made_in_the_admin_may_log_in(transactional_db):
    """The form asks for the role, and no hidden tick stands between the person and the queue."""
    ada = desk.client_of("ada", "administrator")
    form = {"username": "nina", "password1": "a long word 77", "password2": "a long word 77"}
    form |= {"usable_password": "true", "groups": str(Group.objects.get(name="operator").pk)}
    assert ada.post("/admin/auth/user/add/", form).status_code == 302
    nina = Client()
    entered = nina.post("/admin/login/", {"username": "nina", "password": "a long word 77"})
    assert entered.status_code == 302
    assert nina.get("/admin/queue/").status_code == 200


def test_the_log_in_says_what_is_missing(transactional_db):
    """A right password without the tick is told of the tick; a wrong one is told nothing."""
    User.objects.create_user("sven", password="a long word 77")
    for word, says in (("a long word 77", "Staff status"), ("wrong", "do not fit together")):
        page = Client().post("/admin/login/", {"username": "sven", "password": word})
        assert says in page.text


def test_roles_hold_exactly_their_rights(db):
    """What a role may is what roles.py says, after every migrate."""
    for name, rights in ROLES.items():
        group = Group.objects.get(name=name)
        held = {
            f"{right.content_type.app_label}.{right.codename}" for right in group.permissions.all()
        }
        assert held == rights


def test_nobody_is_led_to_the_log_in_and_strangers_are_told(transactional_db):
    """Without a log-in every page asks for it; staff without a role is told of it."""
    assert Client().get("/").status_code == 302
    assert Client().get("/admin/queue/")["Location"] == "/admin/login/?next=/admin/queue/"
    assert Client().post("/admin/queue/conflict/1/resolve/").status_code == 302
    stranger = Client()
    stranger.force_login(User.objects.create_user("sam", is_staff=True))
    desk.person("ada", "administrator")
    desk.person("olga", "operator")
    number = 1
    for path in ("/admin/queue/", f"/admin/queue/conflict/{number}/", "/admin/ledger/job/"):
        answer = stranger.get(path)
        assert answer.status_code == 403
        assert "Your account has no role yet" in answer.text
        for role in ROLES:
            assert f"{role} (" in answer.text
        assert "These people can give you one: ada, under People, at Groups." in answer.text
        assert "olga" not in answer.text
        assert ">Log out</button></form></div>" in answer.text
        assert "To the queue" not in answer.text
