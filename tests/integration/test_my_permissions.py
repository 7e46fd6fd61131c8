"""What I may do: every right, whether I have it, by what, and whom to ask for more."""

import html
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from review.rights import PEOPLE_WORDS, RIGHT_WORDS, ROLES, holders
from tests.support import desk

pytestmark = pytest.mark.django_db(transaction=True)

ME = "/admin/me/"


def rows(client: Client) -> dict[str, tuple[str, str]]:
    """Return the table: what one may, yes or no, and why."""
    page = client.get(ME).text
    found = re.findall(
        r'<th scope="row">(.*?)</th>\s*<td>(.*?)</td>\s*<td>(.*?)</td>', page, re.DOTALL
    )
    return {
        html.unescape(words): ("yes" if " yes<" in held else "no", html.unescape(why))
        for words, held, why in found
    }


@pytest.mark.parametrize("role", ROLES)
def test_each_right_is_listed_with_how_one_has_it(role):
    """In plain English, as the table of roles says."""
    told = rows(desk.client_of("pat", role))
    words = {**RIGHT_WORDS, **PEOPLE_WORDS}
    assert set(told) == set(words.values())
    for right, text in words.items():
        held = right in ROLES[role]
        assert told[text][0] == ("yes" if held else "no"), right
        named = f"by your role {role}" if held else " or ".join(holders(right))
        assert named in told[text][1], right


def test_every_right_of_a_role_has_its_words():
    """A right that is added is told of."""
    assert {*RIGHT_WORDS, *PEOPLE_WORDS} == set().union(*ROLES.values())


def test_it_leads_to_who_can_give_more():
    """And the header leads to it, by the name."""
    desk.person("ada", "administrator")
    vera = desk.client_of("vera", "viewer")
    page = vera.get("/admin/queue/").text
    assert f'href="{ME}"' in page
    assert "These people can give you one: ada, under People, at Groups." in vera.get(ME).text


def test_a_superuser_a_single_right_and_nobody():
    """What does not come by a role is said; who has no role may still look here."""
    boss = User.objects.create_superuser("boss", password=desk.PASSWORD)
    client = Client()
    client.force_login(boss)
    assert {held for held, _ in rows(client).values()} == {"yes"}
    assert "you are a superuser" in rows(client)["resend items"][1]
    hal = desk.person("hal", "viewer")
    hal.user_permissions.set(Permission.objects.filter(codename="resend"))
    client.force_login(hal)
    assert rows(client)["resend items"] == ("yes", "given to you alone")
    sam = User.objects.create_user("sam", is_staff=True)
    client.force_login(sam)
    assert "You have no role" in client.get(ME).text
    assert Client().get(ME).status_code == 302


def test_only_looking_is_possible():
    """The page changes nothing."""
    assert desk.client_of("vera", "viewer").post(ME).status_code == 405
