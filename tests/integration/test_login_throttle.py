"""Guessing passwords: a name and an address are locked, in every process, and people are told."""

import re
from ipaddress import ip_network

import pytest
from axes.models import AccessAttempt
from django.core.management import call_command
from django.test import Client

from ledger.models import AuditEvent
from tests.support import desk

LOGIN, LIMIT = "/admin/login/", 3
HOME, ELSEWHERE = "203.0.113.5", "198.51.100.7"
WRONG = "do not fit together"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def few(owner_sql):
    """Lock after three."""
    owner_sql.execute("UPDATE policies SET value = %s WHERE name = 'login_attempts'", [str(LIMIT)])


def knock(name: str, word: str = "wrong", address: str = HOME, **more: str):
    """Try to log in with a fresh browser."""
    form = {"username": name, "password": word, "next": "/admin/queue/"}
    return Client().post(LOGIN, form, REMOTE_ADDR=address, **more)


def told() -> list[tuple[str, str]]:
    """Return what the audit keeps: whose log-in, and what happened."""
    rows = AuditEvent.objects.filter(op="record_access").order_by("id")
    return [(row.actor, row.after["event"]) for row in rows]


def test_a_name_is_locked_from_wherever_it_is_tried():
    """Also for the right password, also for its owner; the words say how long and what helps."""
    desk.person("olga", "operator")
    for n in range(LIMIT - 1):
        assert WRONG in knock("olga", address=f"203.0.113.{n}").text
    assert knock("olga", address="203.0.113.99").status_code == 429
    answer = knock("olga", desk.PASSWORD, address=ELSEWHERE)
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    for words in ("Too many failed log-ins", "Wait 15 min", "an administrator sets a new one"):
        assert words in answer.text
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert told() == [("olga", "login_failed")] * LIMIT + [("olga", "locked_out")]
    desk.person("otto", "operator")
    assert knock("otto", desk.PASSWORD, address=ELSEWHERE).status_code == 302


def test_an_address_is_locked_whatever_names_it_tries():
    """A list of names with one password each gets no further; others still come in."""
    desk.person("olga", "operator")
    for n in range(LIMIT):
        knock(f"guess-{n}")
    assert knock("olga", desk.PASSWORD).status_code == 429
    assert knock("olga", desk.PASSWORD, address=ELSEWHERE).status_code == 302
    # What was typed as a name may be a password: of unknown names nothing is kept.
    assert told() == [("(unknown)", "login_failed")] * LIMIT + [("olga", "locked_out")]
    kept = str(list(AuditEvent.objects.filter(op="record_access").values("key", "after")))
    assert "guess" not in kept


def test_a_header_lets_nobody_come_from_elsewhere(settings):
    """Without a named proxy it is nothing; behind one, what the client wrote is nothing."""
    desk.person("olga", "operator")
    for n in range(LIMIT):
        knock(f"a{n}", HTTP_X_FORWARDED_FOR=f"198.51.100.{n}")
    assert knock("olga", desk.PASSWORD, HTTP_X_FORWARDED_FOR=ELSEWHERE).status_code == 429
    call_command("axes_reset")
    settings.LANDED_PROXIES = [ip_network("10.0.0.1/32")]
    for n in range(LIMIT):
        spoofed = f"192.0.2.{n}, {HOME}"
        knock(f"b{n}", address="10.0.0.1", HTTP_X_FORWARDED_FOR=spoofed)
    through = {"address": "10.0.0.1", "word": desk.PASSWORD}
    assert knock("olga", HTTP_X_FORWARDED_FOR=f"192.0.2.77, {HOME}", **through).status_code == 429
    assert knock("olga", HTTP_X_FORWARDED_FOR=ELSEWHERE, **through).status_code == 302


def test_behind_a_proxy_nobody_named_only_names_are_locked(settings):
    """Everybody has its address there: locking that would lock everybody."""
    settings.HTTPS = True
    desk.person("olga", "operator")
    for n in range(LIMIT + 2):
        assert knock(f"guess-{n}").status_code == 200
    assert knock("olga", desk.PASSWORD).status_code == 302


def test_nobody_learns_which_names_there_are():
    """The same page for a wrong password, an unknown name and a closed account, and when locked."""
    desk.person("olga", "operator")
    closed = desk.person("zoe", "operator")
    closed.is_active = False
    closed.save()
    pages = [
        re.sub(r'value="[^"]*"', "", knock(name, word, address).text)
        for name, word, address in (
            ("olga", "wrong", "192.0.2.1"),
            ("nobody", "wrong", "192.0.2.2"),
            ("zoe", desk.PASSWORD, "192.0.2.3"),
        )
    ]
    same = [re.sub(r"nonce=\S+", "", page) for page in pages]
    assert len(set(same)) == 1
    call_command("axes_reset")
    for name in ("olga", "nobody"):
        answers = [knock(name, address=f"198.51.100.{n}").status_code for n in range(LIMIT + 1)]
        assert answers == [200] * (LIMIT - 1) + [429] * 2


def test_knocking_on_does_not_keep_a_name_locked(owner_sql):
    """The wait is counted from the last password that was looked at."""
    desk.person("olga", "operator")
    for n in range(LIMIT + 4):
        knock("olga", address=f"203.0.113.{n}")
    attempts = AccessAttempt.objects.filter(username="olga")
    assert sum(each.failures_since_start for each in attempts) == LIMIT
    owner_sql.execute(
        "UPDATE axes_accessattempt SET attempt_time = attempt_time - interval '901 s'"
    )
    assert knock("olga", desk.PASSWORD).status_code == 302


def test_an_account_of_one_s_own_wipes_out_no_failures():
    """Or it would be the way to go on guessing at somebody else's."""
    desk.person("olga", "operator")
    desk.person("mallory", "operator")
    for _ in range(LIMIT - 1):
        knock("olga")
        assert knock("mallory", desk.PASSWORD).status_code == 302
    assert knock("olga").status_code == 429


def test_whoever_runs_landed_unlocks(capsys):
    """By name, by address."""
    desk.person("olga", "operator")
    for _ in range(LIMIT):
        knock("olga")
    call_command("axes_reset_username", "olga")
    assert knock("olga", desk.PASSWORD).status_code == 302
    for n in range(LIMIT):
        knock(f"guess-{n}")
    call_command("axes_reset_ip", HOME)
    assert knock("olga", desk.PASSWORD).status_code == 302
    capsys.readouterr()


def test_no_password_and_no_name_is_kept_beside_the_count(owner_sql):
    """The row that counts holds no form."""
    knock("olga", "a secret password")
    row = owner_sql.execute("SELECT to_jsonb(a)::text FROM axes_accessattempt a").fetchone()
    assert row is not None
    assert "a secret password" not in row[0]


def test_the_runtime_role_counts_and_owns_nothing(app_sql, owner_sql):
    """The tables are Django's own: written by the console, owned by the owner, in no admin."""
    tables = ["axes_accessattempt", "otp_totp_totpdevice", "otp_static_statictoken"]
    for table in tables:
        owner = owner_sql.execute(
            "SELECT tableowner FROM pg_tables WHERE tablename = %s", [table]
        ).fetchone()
        assert owner == (owner_sql.info.user,)
        for right in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            may = app_sql.execute("SELECT has_table_privilege(%s, %s)", [table, right]).fetchone()
            assert may == (True,)
    ada = desk.client_of("ada", "administrator")
    for path in ("axes/accessattempt", "otp_totp/totpdevice", "otp_static/staticdevice"):
        assert ada.get(f"/admin/{path}/").status_code == 404
