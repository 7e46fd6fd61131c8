"""Who may what: a viewer changes nothing anywhere, whatever is posted wherever."""

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from ledger.models import AuditEvent, Conflict, Job
from review.actions import ACTIONS
from review.queue import item_url
from review.verbs import AS_SHOWN
from tests.support import desk, losses

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)


def everything() -> tuple[Any, ...]:
    """Sum up what a verb could change."""
    return (
        list(Conflict.objects.order_by("id").values_list("id", "state", "lock_version")),
        list(Job.objects.order_by("id").values_list("id", "state", "version")),
        AuditEvent.objects.exclude(op="record_access").count(),  # a refusal is recorded
        list(User.objects.order_by("id").values_list("id", "is_superuser", "password")),
        list(Group.permissions.through.objects.order_by("id").values_list("id", flat=True)),
    )


@pytest.mark.parametrize("verb", ACTIONS)
def test_a_viewer_gets_403_from_every_verb(lab, verb):
    """In plain English, for GET and POST, and nothing is changed or recorded."""
    vera = desk.client_of("vera", "viewer")
    number = losses.unknown_send(lab)
    before = everything()
    sends: tuple[Any, ...] = (vera.get, vera.post)
    for send in sends:
        answer = send(
            f"/admin/queue/conflict/{number}/{verb}/",
            {"decision": "landed", "lock_version": 1, "reason": "x", "risk_acknowledged": "yes"},
        )
        assert answer.status_code == 403
        assert "Your role may not" in answer.text
        assert "Ask an administrator" in answer.text
    assert everything() == before


def test_a_viewer_sees_every_button_disabled_with_the_reason(lab):
    """The page explains; it does not hide."""
    vera = desk.client_of("vera", "viewer")
    page = vera.get(item_url("conflict", losses.unknown_send(lab))).text
    buttons = re.findall(r'<button[^>]*name="decision"[^>]*>', page)
    assert len(buttons) == 5
    assert all(" disabled" in button for button in buttons)
    assert page.count("Your role may not") >= 4
    assert "ada@example.com" not in page
    assert "Hidden: your role may not see payloads." in page


def test_a_viewer_sees_which_fields_differ_but_no_value(lab):
    """Values are hidden in the compare, in the outcome row, in the admin, in every corner."""
    vera = desk.client_of("vera", "viewer")
    number = desk.collide(phone="+49 30 7777")
    for path in (item_url("conflict", number), f"/admin/ledger/conflict/{number}/change/"):
        page = vera.get(path)
        assert page.status_code == 200
        assert "+49 30" not in page.text
    assert "changed by the attempt alone" in vera.get(item_url("conflict", number)).text


def test_who_may_not_write_the_row_chooses_nothing(lab):
    """The choices are shown, closed; no other value is asked for and no preview offered."""
    number = desk.collide(phone="+49 30 7777")
    half = desk.person("hal", "viewer")
    half.user_permissions.set(Permission.objects.filter(codename="view_payload"))
    seeing = Client()
    seeing.force_login(half)
    for client in (desk.client_of("vera", "viewer"), seeing):
        page = client.get(item_url("conflict", number)).text
        radios = re.findall(r'<input type="radio"[^>]*>', page)
        assert len(radios) == 2
        assert all(" disabled" in radio for radio in radios)
        assert "write another value" not in page
        assert "Show what this choice writes" not in page
    page = desk.client_of("olga", "operator").get(item_url("conflict", number)).text
    assert not re.findall(r'<input type="radio"[^>]* disabled', page)
    assert "Show what this choice writes" in page


@pytest.mark.parametrize("guess", ['"+49 30 7777"', '"+49 30 1234"', '"+49 30 0"', "7"])
def test_no_guess_at_a_hidden_value_is_confirmed(lab, guess):
    """Neither the preview, nor a decision, nor a list's address answers right and wrong apart."""
    number = desk.collide(phone="+49 30 7777")
    form = {"decision": AS_SHOWN, "pick-0": "other", "other-0": guess, "reason": "x"}
    form |= {"lock_version": str(Conflict.objects.get(pk=number).lock_version)}
    half = desk.person("hal", "viewer")
    half.user_permissions.set(Permission.objects.filter(codename__in=["resolve", "resend"]))
    client = Client()
    client.force_login(half)
    for verb in ("preview", "resolve"):
        answer = client.post(f"/admin/queue/conflict/{number}/{verb}/", form)
        assert answer.status_code == 403
        assert "see payload values" in answer.text
    # A decision that comes back keeps what was typed to itself.
    again = client.post(
        f"/admin/queue/conflict/{number}/resend/", form | {"decision": "resend", "reason": ""}
    )
    plain = client.get(item_url("conflict", number)).text
    assert again.status_code == 200
    assert again.text.count("(kept") == plain.count("(kept")
    assert "+49 30" not in again.text
    listed = client.get(f"/admin/ledger/conflict/?attempted__phone={guess.strip('"')}")
    assert listed.status_code in (302, 400)
    assert listed.status_code == client.get("/admin/ledger/conflict/?attempted__x=1").status_code


def leaves(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    """Walk every address of the site, with something in each place."""
    for each in resolver.url_patterns:
        route = prefix + str(each.pattern).lstrip("^").rstrip("$")
        if isinstance(each, URLPattern):
            yield route
        else:
            yield from leaves(each, route)


def addresses() -> list[str]:
    """Return one address per pattern of the admin."""
    filled = {
        "<path:object_id>": "1",
        "<int:conflict_id>": "1",
        "<int:number>": "1",
        "<slug:word>": "start",
        "<slug:verb>": "resolve",
        "<slug:deed>": "claim",
        "<slug:source>": "conflict",
        "<str:item_id>": "1",
        "<id>": "1",
        "<path:content_type_id>": "1",
        "(?P<app_label>auth|ledger)": "ledger",
        "(?P<app_label>ledger|auth)": "ledger",
        "(?P<url>.*)": "nowhere/",
        "r/<int:content_type_id>": "r/1",
    }
    found = []
    for route in leaves(get_resolver()):
        if not route.startswith("admin/"):
            continue
        for place, word in filled.items():
            route = route.replace(place, word)  # noqa: PLW2901 - filled step by step
        assert "<" not in route, route
        found.append(f"/{route}")
    return found


def test_no_address_of_the_admin_lets_a_viewer_change_anything(lab):
    """Whatever is posted to whatever address: no change and no broken page."""
    vera = desk.client_of("vera", "viewer")
    number = losses.unknown_send(lab)
    before = everything()
    junk = {"action": "delete_selected", "_selected_action": [str(number), "1"], "post": "yes"}
    paths = addresses()
    assert len(paths) > 80
    for path in paths:
        if path == "/admin/logout/":
            continue
        for send in (vera.get, vera.post):
            answer = send(path, junk)
            assert answer.status_code in (200, 302, 403, 404, 405), (path, answer.status_code)
    assert everything() == before


@pytest.mark.parametrize("model", MODELS, ids=[model._meta.label for model in MODELS])
def test_every_admin_action_of_the_site_names_its_right(model, rf):
    """Django runs an action without permissions for anybody who may look; none may be so."""
    site = admin.site._registry[model]
    rf = rf.get("/")
    rf.user = User(is_superuser=True, is_active=True)
    for name, action in site.get_actions(rf).items():
        assert getattr(cast(Any, action).func, "allowed_permissions", None), name


@pytest.mark.parametrize(
    "model",
    [model for model in MODELS if model._meta.app_label == "ledger"],
    ids=lambda model: model._meta.label,
)
def test_ledger_tables_are_read_only_for_everybody(model, rf):
    """Not even a superuser adds, changes or deletes a row in the admin."""
    table: Any = admin.site._registry[model]
    rf = rf.get("/")
    rf.user = User(is_superuser=True, is_active=True)
    assert not table.has_add_permission(rf)
    assert not table.has_change_permission(rf)
    assert not table.has_delete_permission(rf)
    assert table.get_actions(rf) == {}
    assert table.has_view_permission(rf)


def test_the_scheduler_s_own_pages_are_not_there():
    """Opening a row of its queue would run what its pickle contains."""
    assert not [model for model in MODELS if model._meta.app_label == "django_q"]


def test_every_list_and_row_of_the_admin_opens(lab):
    """The read-only tables open for a viewer, with rows in them, searched and not."""
    vera = desk.client_of("vera", "viewer")
    for make in (losses.unknown_send, losses.missing_key, losses.stale_version):
        make(lab)
    for source in losses.OTHERS:
        losses.other(lab.owner, source)
    for model in MODELS:
        if model._meta.app_label != "ledger":
            continue
        base = f"admin:ledger_{model._meta.model_name}"
        for query in ("", "?q=1", "?q=nothing%27here", "?p=9"):
            assert vera.get(reverse(f"{base}_changelist") + query).status_code in (200, 302)
        row = cast(Any, model).objects.first()
        if row is not None:
            answer = vera.get(reverse(f"{base}_change", args=[row.pk]))
            assert answer.status_code == 200, model
