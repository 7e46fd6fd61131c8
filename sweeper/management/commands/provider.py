"""`manage.py provider`: register whom effects are sent to, from a profile and what you say.

`profiles` lists the gallery, `show NAME` tells all about a profile or a registered provider, `list`
lists what is registered, `add NAME --profile P --set x=y` registers. Nothing is sent anywhere.
"""

import getpass
import json
import os
import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.models import Provider
from ledger.operations.base import CLEAR
from ledger.operations.registrations import save_provider
from sweeper import profiles
from sweeper.filled_profile import Filled, ProfileError
from sweeper.profiles import Profile
from sweeper.providers import base

CLASSES = {
    "forced_unique": "drops a repeat itself",
    "advisory_handle": "drops no repeat, can be asked",
    "advisory_blind": "drops no repeat, cannot be asked",
}


class Command(BaseCommand):
    """Register providers from profiles."""

    help = "List profiles and providers, and register a provider from a profile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take one of the four verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("profiles", help="list the gallery")
        verbs.add_parser("list", help="list the registered providers")
        show = verbs.add_parser("show", help="tell all about a registered provider or a profile")
        show.add_argument("name")
        add = verbs.add_parser("add", help="register a provider from a profile")
        add.add_argument("name", help="what effects will call it")
        add.add_argument("--profile", required=True, help="of the gallery, or a path to your .toml")
        add.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting; repeat it"
        )
        add.add_argument("--reason", default="registered from its profile")
        add.add_argument(
            "--replace", action="store_true", help="change a provider that is registered already"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do the verb."""
        try:
            match options["verb"]:
                case "profiles":
                    self._profiles()
                case "list":
                    self._list()
                case "show":
                    self._show(options["name"])
                case "add":
                    self._add(options)
        except ProfileError as error:
            raise CommandError(str(error)) from error

    def _profiles(self) -> None:
        for name in profiles.names():
            data = profiles.read(name).data
            what = CLASSES[data["class"]]
            self.stdout.write(f"{name:<16} {data['title']:<40} {what}; {data['status']}")

    def _list(self) -> None:
        for row in Provider.objects.order_by("name"):
            of = row.profile.get("name", "-") if isinstance(row.profile, dict) else "-"
            self.stdout.write(
                f"{row.name:<24} {row.class_field:<16} {row.lookup_adapter or '-':<14} {of}"
            )

    def _show(self, name: str) -> None:
        row = Provider.objects.filter(name=name).first()
        if row is None:
            self._tell(profiles.read(name))
            return
        for field in Provider._meta.concrete_fields:
            value = getattr(row, field.attname)
            text = json.dumps(value, indent=2) if isinstance(value, dict) else value
            self.stdout.write(f"{field.column}: {text}")

    def _tell(self, profile: Profile) -> None:
        data, key = profile.data, profile.data["key"]
        self.stdout.write(f"{data['title']}: {CLASSES[data['class']]} ({data['class']})")
        self.stdout.write(f"The key travels in: {key['in']} {key.get('name', '')}".rstrip())
        self.stdout.write(f"Kept for: {_kept(key)}")
        self.stdout.write(data.get("notes", ""))
        self.stdout.write("Settings:")
        for each in profile.settings.values():
            default = "needed" if each.default is None else f"default {each.default!r}"
            self.stdout.write(f"  {each.name}: {each.about} ({default})")
        self.stdout.write("What a person checks:")
        self.stdout.writelines(f"  {hint}\n" for hint in data["check"])
        read = f"read {data['read_on']}"
        self.stdout.write(f"{data['status']}, {read}: {', '.join(data['sources'])}")

    def _add(self, options: dict[str, Any]) -> None:
        """Save the row; one that is there is changed only when that is asked for."""
        profile = profiles.read(options["profile"])
        filled = profile.filled(_given(profile, options["set"]))
        name = options["name"]
        known = Provider.objects.filter(name=name).values_list("version", flat=True).first()
        if known is not None and not options["replace"]:
            raise CommandError(f"{name} is registered already; --replace changes it")
        row = filled.row()
        saved = save_provider(
            actor=f"command:{getpass.getuser()}",
            name=name,
            reason=options["reason"],
            version=known,
            # What an earlier profile claimed of the key must not outlive it.
            **row | {"key_ttl_seconds": row["key_ttl_seconds"] or CLEAR},
        )
        if saved.outcome not in ("won", "replay"):
            raise CommandError(f"{name} was not saved: {saved.outcome} {saved.detail}")
        same = " (nothing differs)" if saved.outcome == "replay" else ""
        self.stdout.write(f"{name} is registered, version {saved.version}{same}.")
        self._what_next(filled)

    def _what_next(self, filled: Filled) -> None:
        key = filled.data["key"]
        if key["in"] != "nothing":
            value = key.get("value", "{provider_key}")
            place = f"{key['in']} {key.get('name', '')}".strip()
            self.stdout.write(f"Workflows that send by themselves put {value} into: {place}.")
        named = re.findall(rf"{base.VARIABLE_PREFIX}[A-Z0-9_]+", json.dumps(filled.config))
        missing = [name for name in dict.fromkeys(named) if not os.environ.get(name)]
        if missing:
            self.stdout.write(f"Not set in this process: {', '.join(missing)}.")


def _given(profile: Profile, pairs: list[str]) -> dict[str, Any]:
    """Read name=value pairs by the kinds of the profile's settings."""
    given = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise ProfileError(f"--set takes NAME=VALUE, not {pair!r}")
        setting = profile.settings.get(name)
        given[name] = text if setting is None else setting.read(text)
    return given


def _kept(key: dict[str, Any]) -> str:
    if key.get("unlimited"):
        return "as long as the effect is there"
    ttl = key.get("ttl_seconds")
    return f"{ttl} s" if ttl else "not at all"
