"""The verbs that decide nothing of the ledger: sharing items, sets, saved views, second factors."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from review import saved
from review.access import second_factor
from review.actions.base import reason as read_reason
from review.actions.gate import may_change
from review.bulk import asked as sets
from review.bulk import orders
from review.bulk.choices import CHOICES
from review.bulk.consequences import consequences
from review.bulk_models import PREVIEW, BulkSet
from review.doors.found import item_of
from review.doors.shapes import Asked, Told, UnknownError, Verb
from review.errors import HeldError
from review.items.page import Banner
from review.queue import item_url
from review.rights import ADMINISTER, BULK
from review.text import counted, shown
from review.together import deeds


def verbs() -> Iterator[Verb]:
    """Return a verb for each deed, each order of a set, and each deed with a view."""
    for name, deed in deeds.DEEDS.items():
        takes = {"text": "prose!" if deed.words else "prose"}
        takes |= {"until": f"enum:{'|'.join(deeds.SNOOZES)}!"} if name == "snooze" else {}
        takes |= {"times": "int:1..1000!"} if name == "ignore" else {}
        yield Verb(
            f"/queue/{{source}}/{{item_id}}/together/{name}",
            deed.says,
            takes,
            partial(_share, name),
            deed.right,
        )
    yield Verb(
        "/bulk",
        "Freeze items into a set: those named as source:id, or all that match an address",
        {"items": "array", "query": "text"},
        _freeze,
        BULK,
    )
    for word, order in sets.ORDERS.items():
        started = {"choice": f"enum:{'|'.join(CHOICES)}!", "checksum": "text!", "reason": "prose!"}
        yield Verb(
            f"/bulk/{{number}}/{word}",
            order.says,
            started if word == "start" else {},
            partial(_order, word),
            BULK,
        )
    yield Verb(
        "/people/{name}/second-factor",
        "Take away somebody's second factor",
        {"reason": "prose!"},
        _reset,
        ADMINISTER,
    )
    for name, view_deed in saved.DEEDS.items():
        new = name == "save"
        takes = {"name": "text!"} if name in ("save", "rename") else {}
        yield Verb(
            "/queue/views" if new else f"/queue/views/{{number}}/{name}",
            view_deed.says,
            takes | ({"query": "text!"} if new else {}),
            partial(_view, name),
            view_deed.right,
        )


def _reset(asked: Asked) -> Told:
    person = User.objects.filter(username=asked.path["name"]).first()
    if person is None:
        raise UnknownError("There is nobody of this name.")
    may_change(asked.user, person)
    why = read_reason(asked.form)
    page = f"people/{asked.path['name']}/second-factor"
    answer = second_factor.reset(person, asked.name, why, page=page)
    said = f"{asked.path['name']} logs in with the password alone now."
    return Told(answer.outcome, Banner("ok", "Taken away", said), answer.detail or {})


def _share(name: str, asked: Asked) -> Told:
    source, item_id = asked.path["source"], asked.path["item_id"]
    row = item_of(source, item_id)
    deed = deeds.Asked(asked.name, source, str(row.pk), asked.form, timezone.now())
    try:
        deeds.do(name, deed)
    except HeldError as error:
        said = " ".join(error.problems.values())
        return Told("held_by_other", Banner("warn", "Somebody else has it", said))
    return Told("won", Banner("ok", "Done", f"It stands on {item_url(source, row.pk)}."))


def _freeze(asked: Asked) -> Told:
    if asked.form.get("query"):
        query = saved.read(asked.form["query"])
        return _told_of_set(sets.freeze_matching(asked.user, query))
    return _told_of_set(sets.freeze_ticked(asked.user, asked.form.get("items", "").split("\n")))


def _told_of_set(found: BulkSet) -> Told:
    """Say what a set holds, and what each choice would do to it; nothing is changed yet."""
    frozen = [orders.frozen(item) for item in found.items.only("source", "kind", "bars")]
    detail: dict[str, Any] = {
        "set": found.pk,
        "items": found.total,
        "more_match": found.cut,
        "checksum": found.checksum,
        "choices": {
            each.choice.word: {
                "items": each.count,
                "does": [f"{part.kind.label}, {part.count}: {part.says}" for part in each.taken],
                "leaves_out": [
                    f"{part.kind.label}, {part.count}: {part.says}" for part in each.left
                ],
            }
            for each in consequences(frozen)
        },
    }
    said = f"Set {found.pk} holds {counted(found.total, 'item')}. Nothing is changed yet."
    return Told("won", Banner("ok", "Frozen", said, "Start it with its checksum."), detail)


def _order(word: str, asked: Asked) -> Told:
    found = sets.find(int(asked.path["number"])) if _is_number(asked.path["number"]) else None
    if found is None:
        raise UnknownError("No set has this number. One nobody starts is forgotten after a day.")
    came = sets.give(word, sets.Order(asked.user, found, asked.form))
    found.refresh_from_db(fields=["state"])
    detail = {"set": found.pk, "state": found.state}
    if came:
        return Told("won", Banner("ok", "Done", f"The set is {found.state}."), detail)
    late = "already_decided" if found.state != PREVIEW else "bad_transition"
    said = f"The set is {found.state}; this order came too late or too early for it."
    return Told(late, Banner("warn", "Nothing was changed", said), detail)


def _view(name: str, asked: Asked) -> Told:
    view = None
    if name != "save":
        number = asked.path["number"]
        view = saved.find(int(number), asked.user) if _is_number(number) else None
        if view is None:
            raise UnknownError("No view has this number. Its owner may have deleted it.")
    done = saved.do(name, saved.Asked(asked.user, asked.form, view))
    detail = {"view": done.pk, "name": shown(done.name, saved.LONGEST_NAME), "query": done.query}
    return Told("won", Banner("ok", "Done", "The view is as you asked."), detail)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
