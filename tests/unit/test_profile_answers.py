"""How each profile reads its service's answer: the documented shapes, found, absent and neither."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sweeper import profiles
from sweeper.errors import LookupInconclusiveError
from sweeper.filled_profile import SAMPLE
from sweeper.providers.base import Absent, Found, Identity
from sweeper.providers.http_answer import read_look_up
from sweeper.providers.template import fill
from sweeper.transport import Answer

OTHER = Identity("job-2", "charge:order 2:v1", "<99@landed>")
Shape = Callable[[list[str]], Any]


def stripe(keys: list[str], status: str = "succeeded") -> Any:
    """Show a search result of payment intents."""
    data = [{"id": f"pi_{n}", "status": status, "metadata": {"landed_key": k}} for n, k in en(keys)]
    return {"object": "search_result", "url": "/v1/…", "has_more": False, "data": data}


def en(keys: list[str]) -> list[tuple[int, str]]:
    """Give each key a number, from one."""
    return list(enumerate(keys, 1))


def notion(keys: list[str]) -> Any:
    """Show pages of a database, the text cut into runs as Notion does."""
    pages = [
        {"object": "page", "id": f"p{n}", "properties": {"landed_key": {"rich_text": [text(k)]}}}
        for n, k in en(keys)
    ]
    return {"object": "list", "results": pages, "has_more": False, "next_cursor": None}


def text(key: str) -> dict[str, Any]:
    """Show one run of rich text."""
    return {"type": "text", "text": {"content": key}, "plain_text": key}


SHAPES: dict[str, Shape] = {
    "stripe": stripe,
    "notion": notion,
    "slack": lambda keys: {
        "ok": True,
        "messages": [{"type": "message", "ts": "1.0", "text": "by hand"}]
        + [
            {"ts": f"17.{n}", "metadata": {"event_payload": {"landed_key": k}}} for n, k in en(keys)
        ],
        "has_more": False,
    },
    "mailgun": lambda keys: {
        "items": [
            {"id": f"e{n}", "event": "accepted", "message": {"headers": {"message-id": k}}}
            for n, k in en(keys)
        ],
        "paging": {"next": "https://api.mailgun.net/…"},
    },
    "airtable": lambda keys: {
        "records": [{"id": f"rec{n}", "fields": {"landed_key": k}} for n, k in en(keys)]
    },
    "google-sheets": lambda keys: {
        "range": "Orders!A1:A4",
        "majorDimension": "COLUMNS",
        "values": [["landed_key", *keys]],
    },
    "shopify": lambda keys: {
        "data": {
            "orders": {
                "nodes": [{"id": f"gid://{n}", "tags": ["vip", k]} for n, k in en(keys)],
                "pageInfo": {"hasNextPage": False},
            }
        }
    },
    "woocommerce": lambda keys: [
        {"id": n, "meta_data": [{"id": 1, "key": "x", "value": {}}, {"key": "k", "value": k}]}
        for n, k in en(keys)
    ],
    "github": lambda keys: (
        [{"number": n, "body": f"Broken.\n<!-- {k} -->", "state": "closed"} for n, k in en(keys)]
        + [{"number": 9, "body": None}]
    ),
    "jira": lambda keys: {
        "issues": [{"key": f"OPS-{n}", "fields": {"labels": ["a", k]}} for n, k in en(keys)],
        "isLast": True,
    },
    "outlook": lambda keys: {
        "value": [{"id": f"A{n}", "internetMessageId": k, "isDraft": False} for n, k in en(keys)]
    },
}

BROKEN: dict[str, list[Any]] = {
    "stripe": [stripe([]) | {"has_more": True}, stripe(["{key}"], "requires_payment_method")],
    "notion": [notion([]) | {"has_more": True}, {"object": "error", "status": 400}],
    "slack": [
        {"ok": False, "error": "channel_not_found"},
        {"ok": True, "messages": [], "has_more": True},
    ],
    "airtable": [{"records": [], "offset": "itr/rec"}, {"error": {"type": "INVALID_FILTER"}}],
    "google-sheets": [{"range": "Orders!A1:A1000", "majorDimension": "COLUMNS"}],
    "shopify": [
        {"errors": [{"message": "Throttled"}], "data": None},
        {"data": {"orders": {"nodes": [], "pageInfo": {"hasNextPage": True}}}},
    ],
    "woocommerce": [[{"id": n, "meta_data": []} for n in range(100)], {"code": "rest_forbidden"}],
    "github": [[{"number": n, "body": "x"} for n in range(100)], {"message": "Not Found"}],
    "jira": [{"issues": [], "nextPageToken": "x"}, {"errorMessages": ["no"]}],
    "outlook": [{"value": [{"id": "A", "internetMessageId": "{key}", "isDraft": True}]}],
    "mailgun": [{"message": "Forbidden"}],
}


def look(name: str, document: Any, status: int = 200) -> Any:
    """Read one answer as the profile says."""
    section = profiles.read(name).example().config["look_up"]
    return read_look_up(Answer(status, {}, json.dumps(document).encode()), section, SAMPLE)


def wanted(name: str, identity: Identity) -> str:
    """Return what the profile compares with."""
    return fill(profiles.read(name).example().config["look_up"]["equals"], identity)


def test_every_look_up_of_the_gallery_has_a_shape() -> None:
    """A profile that asks over HTTP is read here."""
    asking = {name for name in profiles.names() if "look_up" in profiles.read(name).data["config"]}
    assert asking == {*SHAPES, "hubspot"}


@pytest.mark.parametrize("name", SHAPES)
def test_an_effect_is_found_by_its_key_and_no_other(name: str) -> None:
    """Among others, with a reference a person can look for; without it, absent."""
    mine, other = wanted(name, SAMPLE), wanted(name, OTHER)
    found = look(name, SHAPES[name]([other, mine]))
    assert isinstance(found, Found)
    assert found.provider_ref or name == "google-sheets"  # a cell has no number of its own
    for keys in ([], [other], [mine[:-1]]):
        assert isinstance(look(name, SHAPES[name](keys)), Absent), keys


@pytest.mark.parametrize("name", BROKEN)
def test_half_an_answer_is_none(name: str) -> None:
    """An error in a 200, a page that goes on, a draft, a payment that waits for its customer."""
    for document in BROKEN[name]:
        said = json.loads(json.dumps(document).replace("{key}", wanted(name, SAMPLE)))
        with pytest.raises(LookupInconclusiveError):
            look(name, said)
    for status in (401, 403, 404, 429, 500):
        with pytest.raises(LookupInconclusiveError):
            look(name, SHAPES[name]([]), status)


def test_hubspot_answers_404_for_what_it_does_not_have() -> None:
    """A record is asked for by its own property."""
    record = {"id": "12", "properties": {"landed_key": wanted("hubspot", SAMPLE)}}
    assert look("hubspot", record) == Found("12", "1 matching")
    assert isinstance(look("hubspot", {"status": "error"}, 404), Absent)
    with pytest.raises(LookupInconclusiveError):
        look("hubspot", {"status": "error"}, 400)
