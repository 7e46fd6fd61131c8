"""Whatever stands in an address: a page, or a refusal in plain words. Never an error."""

import psycopg
import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from ledger.models import Conflict
from review.queue import item_url
from tests.support import desk, losses

TABLES = sorted(admin.site._registry, key=lambda model: model._meta.label)
SURROGATE = "%ED%A0%80"


@pytest.fixture
def ada(transactional_db: None, owner_sql: psycopg.Connection) -> Client:
    """Log an administrator in, who may open everything, where a table has rows."""
    desk.open_shop(owner_sql)
    desk.collide()
    return desk.client_of("ada", "administrator")


def refused(client: Client, path: str) -> None:
    """Expect the page of a refused address, in the site's frame."""
    answer = client.get(path)
    assert answer.status_code == 400, path
    assert "This address cannot be used" in answer.text
    assert "Nothing was changed" in answer.text
    assert 'href="/admin/queue/"' in answer.text


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model._meta.label_lower)
def test_no_filter_of_a_table_breaks_it(ada, model):
    """NUL and patterns are refused, half a character is just another text, for every column."""
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    for field in model._meta.concrete_fields:
        for query in ("__exact=%00", "__regex=("):
            refused(ada, f"{path}?{field.name}{query}")
        for query in (f"={SURROGATE}", f"__in={SURROGATE},1"):
            answer = ada.get(f"{path}?{field.name}{query}")
            assert answer.status_code in {200, 302, 400}, query
    for query in ("q=%00", "p=%00", "%00=1", "pk__in=%00", "pk__year=99999", "_to_field=x"):
        refused(ada, f"{path}?{query}")
    assert ada.get(f"{path}?q={SURROGATE}").status_code == 200


def test_no_page_of_the_console_breaks_at_a_query(ada, owner_sql):
    """The own pages and the log-in too, whatever the parameter is called."""
    number = Conflict.objects.get(waiting_since__isnull=False).pk
    paths = [
        reverse("admin:review_queue"),
        reverse("admin:review_queue") + "?tab=decided",
        reverse("admin:review_kill_matrix"),
        reverse("admin:password_change"),
        item_url("conflict", number),
        item_url("failed_job", losses.other(owner_sql, "failed_job")),
        f"/admin/ledger/conflict/{number}/change/",
        "/admin/nowhere/",
    ]
    for path in paths:
        sign = "&" if "?" in path else "?"
        refused(ada, f"{path}{sign}x%00=1")
        for name in ("q", "after", "tab", "kind", "workflow"):
            refused(ada, f"{path}{sign}{name}=a%00b")
            answer = ada.get(f"{path}{sign}{name}={SURROGATE}")
            assert answer.status_code in {200, 404}, path
    assert Client().get("/admin/login/?next=%00").status_code == 400


def test_more_parameters_than_anybody_types_are_refused(ada):
    """The page that says so is drawn without them, in the frame and with the way back."""
    many = "&".join(f"a{n}=1" for n in range(1_001))
    for path in ("/admin/queue/", "/admin/login/", "/admin/ledger/job/", "/admin/nowhere/"):
        refused(ada, f"{path}?{many}")
    assert ada.post("/admin/queue/?" + many).status_code == 400


def test_a_row_nobody_has_is_not_found(ada):
    """At once, and not as a word on whatever page comes next."""
    answer = ada.get("/admin/ledger/job/not-a-job/change/")
    assert answer.status_code == 404
    assert "No job has the id not-a-job" in answer.text


@pytest.mark.parametrize("path", ["/admin/login/", "/admin/queue/"])
def test_another_name_of_the_server_is_refused_in_plain_words(ada, path):
    """And with what its operator can do about it."""
    answer = ada.get(path, headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert "LANDED_ALLOWED_HOSTS says which" in answer.text
    assert "evil" not in answer.text


def test_there_is_no_way_to_a_site_that_is_not(ada):
    """Django's short cut from a row to its page elsewhere would have to fail."""
    assert "No page has this address" in ada.get("/admin/r/1/1/").text
