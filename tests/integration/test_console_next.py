"""What to do next, as the queue and the item's page say it: the same, and possible."""

from typing import Any

import pytest
from django.test import Client

from ledger.models import Job
from review.queue import item_url
from tests.support import losses, waiting


def said_of(client: Client, source: str, item_id: object) -> Any:
    """Return the item's page; both places say the same and nothing the page refuses."""
    rows = client.get("/admin/queue/").context["page"].rows
    (row,) = (row for row in rows if (row.source, row.item_id) == (source, str(item_id)))
    item = client.get(item_url(source, item_id)).context["item"]
    assert item.next.words == row.next != ""
    for offer in item.offers:
        if offer.disabled:
            assert offer.decision.label.lower() not in row.next.lower()
    return item


@pytest.mark.parametrize("kind", losses.MAKE)
def test_the_next_step_of_a_conflict_is_possible(lab, olga, kind):
    """Every kind, made the way it happens."""
    said_of(olga, "conflict", losses.MAKE[kind](lab))


@pytest.mark.parametrize(
    ("source", "make"),
    list({(source, make): None for (source, _), make in waiting.MAKE.items()}),
    ids=lambda part: getattr(part, "__name__", part),
)
def test_the_next_step_of_anything_else_is_possible(store, olga, source, make):
    """Dead letters with and without a job, imports that stalled or failed, runs known or not."""
    said_of(olga, source, make(store))


def test_where_nobody_answers_a_look_up_the_page_says_where_to_look(lab, olga):
    """The provider, the time and the key by which the effect is known there, and no handle."""
    number = losses.unknown_send(lab)
    item = said_of(olga, "conflict", number)
    job = Job.objects.get()
    assert item.next.words == "Check at hook by hand, then say what you know"
    assert "Landed cannot ask hook." in item.next.how
    assert f"key: <code><bdi>{job.provider_key}</bdi></code>" in item.next.how
    lab.owner.execute(
        "UPDATE providers SET profile = %s WHERE name = 'hook'",
        ['{"check": ["Call the warehouse and ask for {provider_key}."]}'],
    )
    told = said_of(olga, "conflict", number).next.how
    assert told == "Where and for what to look stands below."
    page = olga.get(item_url("conflict", number)).text
    assert f"Call the warehouse and ask for {job.provider_key}." in page
    assert "advisory without handle" in page
    assert job.handle.strip("<>") not in page
    assert ">Handle<" not in page
