"""`manage.py console ADDRESS --as NAME`: look and decide as at the console, from a shell."""

import getpass
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from ledger.catalog import GOOD
from ledger.errors import LedgerError
from review.access import record
from review.actions.gate import NotAllowed
from review.doors.gate import admit, form_of
from review.doors.items import version_of
from review.doors.shapes import VERSION, Asked, Told, UnknownError, Verb
from review.doors.table import verbs
from review.errors import IncompleteError

_PLACE = re.compile(r"\{(\w+)\}")
# Every decision says by which hand it came; who reads the audit sees that it was no log-in.
_SIGNED = ("reason", "text")


class Command(BaseCommand):
    """The address of a button, as in the browser; without one, all of them are listed."""

    help = "Do what a button of the console does, as a person who may. Without an address: list."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the address, the person, and what is typed."""
        parser.add_argument("address", nargs="?", help="such as queue/conflict/17/resolve")
        parser.add_argument(
            "typed", nargs="*", metavar="NAME=VALUE", help='such as decision=keep reason="…"'
        )
        parser.add_argument("--as", dest="person", help="the person whose decision it is")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Carry the verb out, or list them."""
        if options["address"] is None:
            self.stdout.write("\n".join(_listed()))
            return
        verb, path = _find(options["address"])
        user = User.objects.filter(username=options["person"] or "", is_active=True).first()
        if user is None:
            raise CommandError("Say with --as whose decision it is: the name of an open account.")
        told = self._carry_out(verb, path, user, options["typed"])
        self.stdout.write(json.dumps(told.row, ensure_ascii=False, indent=1, default=str))
        if told.outcome not in GOOD | {"needs_second_person"}:
            raise CommandError(f"{told.outcome}: {told.banner.title}")

    def _carry_out(self, verb: Verb, path: Mapping[str, str], user: User, typed: list[str]) -> Told:
        try:
            admit(user, verb)
            given = _given(verb, path, typed)
            return verb.run(Asked(user, path, form_of(verb, given, {})))
        except NotAllowed as refusal:
            page = f"manage.py console {verb.path} ({getpass.getuser()})"
            record.note(user.get_username(), refusal.event, right=refusal.right, page=page)
            raise CommandError(f"{refusal} The refusal is recorded.") from refusal
        except UnknownError as error:
            raise CommandError(str(error)) from error
        except IncompleteError as error:
            lines = [f"{name}: {words}" for name, words in error.problems.items()]
            raise CommandError("\n".join([*lines, f"It takes {_typed_words(verb)}."])) from error
        except LedgerError as error:
            raise CommandError(f"The ledger did not answer: {error}") from error


def _find(address: str) -> tuple[Verb, dict[str, str]]:
    """Return the verb at an address and the parameters in it."""
    wanted = "/" + address.removeprefix("/admin").strip("/")
    for verb in verbs().values():
        # An id may hold slashes where a word follows it; elsewhere they are written %2F.
        place = "[^/]+" if verb.path.endswith("}") else ".+"
        if found := re.fullmatch(_PLACE.sub(rf"(?P<\1>{place})", verb.path), wanted):
            return verb, {name: unquote(text) for name, text in found.groupdict().items()}
    raise CommandError(f"No button has the address {wanted}. manage.py console lists them all.")


def _given(verb: Verb, path: Mapping[str, str], typed: list[str]) -> dict[str, Any]:
    """Read what was typed as the types of the verb say; a version left out is the one of now."""
    given: dict[str, Any] = {}
    for each in typed:
        name, sign, text = each.partition("=")
        if not sign or name not in verb.takes:
            raise IncompleteError({name[:80]: "It is not among what this takes."})
        given[name] = _value(verb.takes[name], text)
    if VERSION in verb.takes and VERSION not in given:
        given[VERSION] = version_of(verb, path)
    for name in _SIGNED:
        if str(given.get(name) or "").strip():
            given[name] = f"{given[name]} [manage.py console, {getpass.getuser()}]"
    return given


def _value(type_: str, text: str) -> Any:
    """Read one value; what is no text is typed as JSON, a list also with commas."""
    if type_.startswith("bool"):
        return {"yes": True, "true": True, "no": False, "false": False}.get(text, text)
    if type_.startswith("array"):
        return text.split(",")
    if type_.startswith("object"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _listed() -> Iterator[str]:
    for verb in verbs().values():
        yield f"{verb.path.lstrip('/')}\n    {verb.says}. It takes {_typed_words(verb)}."


def _typed_words(verb: Verb) -> str:
    words = []
    for name, type_ in verb.takes.items():
        kind, _, rest = type_.rstrip("!").partition(":")
        said = name + (f"={rest}" if kind == "enum" else "")
        optional = not type_.endswith("!") or name == VERSION
        words.append(f"[{said}]" if optional else said)
    return ", ".join(words) or "nothing"
