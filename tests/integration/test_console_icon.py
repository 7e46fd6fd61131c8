"""The icon: linked from every page of the console, stock pages and refusals included."""

import re

import pytest
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.test import Client

from tests.support import desk

PAGES = [
    "/admin/login/",
    "/admin/queue/",
    "/admin/queue/conflict/{number}/",
    "/admin/nowhere/",
    "/admin/ledger/",
    "/admin/ledger/job/",
    "/admin/ledger/job/?q=x",
    "/admin/ledger/conflict/{number}/change/",
    "/admin/ledger/conflict/{number}/history/",
    "/admin/auth/user/",
    "/admin/auth/user/add/",
    "/admin/auth/user/add/?_popup=1",
    "/admin/auth/user/{me}/change/",
    "/admin/auth/user/{me}/password/",
    "/admin/auth/group/",
    "/admin/password_change/",
]


def linked_icons(page: str) -> list[str]:
    """Return the addresses of the icons a page links."""
    return re.findall(r'<link rel="icon" type="image/svg\+xml" href="([^"]+)"', page)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_links_the_icon(shop, path):
    """The stock pages, the refusals and the log-in too."""
    ada = desk.person("ada", "administrator")
    client = Client()
    if path != "/admin/login/":
        client.force_login(ada)
    page = client.get(path.format(number=desk.collide(), me=ada.pk))
    assert page.status_code in (200, 404)
    assert linked_icons(page.text) == [static("review/favicon.svg")]


def test_the_icon_a_browser_asks_for_by_itself_is_the_hashed_file(client, transactional_db):
    """Nobody logged in, no 404 in the log, and the strict policy covers it."""
    found = client.get("/favicon.ico")
    assert (found.status_code, found["Location"]) == (302, static("review/favicon.svg"))
    assert re.fullmatch(r"/static/review/favicon\.[0-9a-f]{12}\.svg", found["Location"])
    assert "img-src 'self'" in found["Content-Security-Policy"]
    drawn = client.get(found["Location"])
    assert (drawn.status_code, drawn["Content-Type"]) == (200, "image/svg+xml")
    drawn.close()
    refused = Client(enforce_csrf_checks=True).post("/admin/login/", {})
    assert linked_icons(refused.text) == [found["Location"]]
    assert linked_icons(render_to_string("review/broken.html")) == [found["Location"]]
