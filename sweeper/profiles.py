"""Profiles: what is known of a service as data, and the provider's row that follows from it.

A profile is one TOML file, of the gallery in ``providers/profiles`` or of the user. It says how the
service treats a repeat, where the key travels, how to ask afterwards, and what a person should
look at; every claim has a source. It is read strictly: what nobody reads and what is missing is
refused with its place. What it claims is judged once it is filled in (filled_profile.py).
"""

import datetime as dt
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeper.classes import ProviderClass
from sweeper.filled_profile import Filled, ProfileError

GALLERY = Path(__file__).parent / "providers" / "profiles"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
SETTING = re.compile(r"\$\{([a-z][a-z0-9_]*)\}")

PLACES = ("header", "body", "address", "message_id", "object_name", "column", "nothing")
STATUSES = ("verified", "documented")
KINDS: Mapping[str, type] = {"text": str, "number": int, "list": list}

# What a profile may hold and must hold, by section.
TOP = {
    "title": str,
    "driver": str,
    "class": str,
    "status": str,
    "sources": list,
    "read_on": dt.date,
    "check": list,
    "notes": str,
    "key": dict,
    "row": dict,
    "settings": dict,
    "config": dict,
}
OPTIONAL = {"notes", "row", "settings"}
KEY = {
    "in": str,
    "name": str,
    "value": str,
    "ttl_seconds": int,
    "unlimited": bool,
    "caches_errors": bool,
    "mismatch": str,
}
ROW = {
    "lease_seconds": int,
    "heartbeat_seconds": int,
    "settle_seconds": int,
    "max_attempts": int,
    "max_lookup_errors": int,
}
ASKS = {"about": str, "kind": str, "only": list, "default": object, "example": object}


@dataclass(frozen=True, slots=True)
class Setting:
    """What an installation has to say, or may say otherwise."""

    name: str
    about: str
    kind: str
    only: list[str] | None = None
    default: Any = None
    example: Any = None

    def read(self, text: str) -> Any:
        """Read a value as it is given on a command line."""
        if self.kind == "list":
            return [part.strip() for part in text.split(",") if part.strip()]
        if self.kind == "number":
            try:
                return int(text)
            except ValueError as error:
                raise ProfileError(f"{self.name} is a whole number, not {text!r}") from error
        if self.only is not None and text not in self.only:
            raise ProfileError(f"{self.name} is {' or '.join(self.only)}: {self.about}")
        return text


@dataclass(frozen=True, slots=True)
class Profile:
    """One service, with the places an installation fills in."""

    name: str
    data: Mapping[str, Any]
    settings: Mapping[str, Setting]

    def filled(self, given: Mapping[str, Any]) -> "Filled":
        """Put in what an installation says; what is missing, or nobody asked for, is refused."""
        if unknown := sorted(given.keys() - self.settings.keys()):
            known = ", ".join(self.settings) or "nothing"
            raise ProfileError(f"{self.name} has no setting {unknown[0]!r}; it asks for {known}")
        values = {name: given.get(name, each.default) for name, each in self.settings.items()}
        for name, value in values.items():
            if value is None or value == "":
                raise ProfileError(f"{self.name} needs {name}: {self.settings[name].about}")
        result = Filled(self.name, _put_in(self.data, values), values)
        result.check()
        return result

    def example(self) -> "Filled":
        """Return the profile as an installation could fill it in."""
        return self.filled(
            {
                name: each.example
                for name, each in self.settings.items()
                if each.default is None and each.example is not None
            }
        )


def names() -> list[str]:
    """Return the names of the gallery."""
    return sorted(path.stem for path in GALLERY.glob("*.toml"))


def read(name: str) -> Profile:
    """Read a profile of the gallery, or the file at a path that ends with .toml."""
    path = Path(name) if name.endswith(".toml") else GALLERY / f"{name}.toml"
    if not name.endswith(".toml") and not (NAME.fullmatch(name) and path.is_file()):
        raise ProfileError(f"there is no profile {name!r}; known are {', '.join(names())}")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ProfileError(f"{path}: {error}") from error
    return parse(path.stem, data)


def parse(name: str, data: Mapping[str, Any]) -> Profile:
    """Judge the form of a profile; its claims are judged once it is filled in."""
    _shape(name, data, TOP, required=TOP.keys() - OPTIONAL)
    _shape(f"{name}: key", data["key"], KEY, required={"in"})
    _shape(f"{name}: row", data.get("row", {}), ROW)
    _one_of(name, "class", data["class"], [each.value for each in ProviderClass])
    _one_of(name, "status", data["status"], STATUSES)
    _one_of(name, "key.in", data["key"]["in"], PLACES)
    _one_of(name, "key.mismatch", data["key"].get("mismatch", "error"), ("error", "ignored"))
    for listed in ("sources", "check"):
        if not data[listed] or not all(isinstance(text, str) and text for text in data[listed]):
            raise ProfileError(f"{name}: {listed} is a list of at least one text")
    settings = {}
    for each, asked in data.get("settings", {}).items():
        _shape(f"{name}: settings.{each}", asked, ASKS, required={"about"})
        kind = asked.get("kind", "text")
        _one_of(name, f"settings.{each}.kind", kind, tuple(KINDS))
        for shown in (asked.get("default"), asked.get("example")):
            if shown is not None and not isinstance(shown, KINDS[kind]):
                raise ProfileError(f"{name}: settings.{each} is a {kind}, not {shown!r}")
        settings[each] = Setting(each, **{**asked, "kind": kind})
    body = {section: value for section, value in data.items() if section != "settings"}
    for unasked in sorted(_used(body) - settings.keys()):
        raise ProfileError(f"{name}: ${{{unasked}}} is no setting of this profile")
    said = {each.name for each in settings.values() if each.only is not None}
    for unused in sorted(settings.keys() - _used(body) - said):
        raise ProfileError(f"{name}: settings.{unused} is used nowhere")
    return Profile(name, body, settings)


def _shape(
    where: str, data: Any, known: Mapping[str, type], *, required: "set[str] | Any" = frozenset()
) -> None:
    if not isinstance(data, dict):
        raise ProfileError(f"{where} is a table")
    for name, value in data.items():
        if name not in known:
            raise ProfileError(f"{where}: {name} is unknown; known are {', '.join(known)}")
        kind = known[name]
        # A setting may stand for a number until it is filled in.
        open_number = kind is int and isinstance(value, str) and SETTING.fullmatch(value)
        wrong_bool = isinstance(value, bool) and kind not in (bool, object)
        if not open_number and (wrong_bool or not isinstance(value, kind)):
            raise ProfileError(f"{where}: {name} must be a {kind.__name__}")
    for name in sorted(required - data.keys()):
        raise ProfileError(f"{where}: {name} is missing")


def _one_of(where: str, name: str, value: Any, known: Any) -> None:
    if value not in known:
        raise ProfileError(f"{where}: {name} is one of {', '.join(known)}, not {value!r}")


def _used(document: Any) -> set[str]:
    """Return the settings a document speaks of."""
    match document:
        case str():
            return set(SETTING.findall(document))
        case dict():
            return {name for member in document.items() for text in member for name in _used(text)}
        case list():
            return {name for value in document for name in _used(value)}
    return set()


def _put_in(document: Any, values: Mapping[str, Any]) -> Any:
    """Put settings in: a text that is one setting becomes its value, others get it written in."""
    match document:
        case str():
            if whole := SETTING.fullmatch(document):
                return values[whole[1]]
            return SETTING.sub(lambda match: str(values[match[1]]), document)
        case dict():
            return {_put_in(name, values): _put_in(each, values) for name, each in document.items()}
        case list():
            return [_put_in(value, values) for value in document]
    return document
