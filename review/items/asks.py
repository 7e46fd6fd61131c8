"""The inputs of the set-up's pages: what may be changed, what stands there, and how it is read."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from ledger.models import Policy, Provider
from ledger.operations.base import CLEAR
from review.errors import IncompleteError
from review.items.page import Ask
from review.language import _, grouped, later
from review.text import shown

_DAY: Final = timedelta(days=1)
_YES_NO: Final = (("yes", later("yes")), ("no", later("no")))
_CLASSES: Final = (
    ("forced_unique", later("forced unique: refuses a repeat of a key")),
    ("advisory_handle", later("advisory with handle: can be searched")),
    ("advisory_blind", later("advisory without handle: nobody can tell")),
)
# Whole numbers of a provider: the column, its label, and what it means; "?" may be empty.
_NUMBERS: Final = (
    ("lease_seconds", later("Lease, s"), later("a worker gives a sign of life within")),
    ("heartbeat_seconds?", later("Sign of life, s"), later("at most a quarter of the lease")),
    ("settle_seconds", later("Settle window, s"), later("absent is believed after")),
    ("max_attempts", later("Attempts"), later("before it is a dead letter")),
    ("max_lookup_errors", later("Failed look-ups"), later("before a person decides")),
    ("key_ttl_seconds?", later("It remembers a key, s"), later("empty where it never forgets")),
)
_HORIZONS: Final = (
    ("retry_horizon", later("Retries come for, days"), later("after the first delivery")),
    ("replay_horizon", later("Replays come for, days"), later("a key lives at least so long")),
    ("retention_margin", later("Margin, days"), later("kept beyond that")),
)
_CHOICES: Final = (
    ("key_unlimited", later("It never forgets a key"), "yes_no"),
    ("caches_errors", later("It repeats stored errors"), "yes_no"),
    ("lookup_by_reference", later("It can be asked by reference"), "yes_no"),
    ("mismatch", later("Same key, other content"), "error|ignored"),
    ("unmarked_action", later("A job that was never marked"), "review|requeue"),
)
_LONGEST_YEARS: Final = 100


def names(source: str) -> tuple[str, ...]:
    """Return what the inputs of a page are called."""
    if source == "provider":
        numbers = (name.rstrip("?") for name, *_ in _NUMBERS)
        return ("class", *numbers, *(name for name, *_ in (*_HORIZONS, *_CHOICES)))
    return {"policy": ("value",), "retention": ("expiry_days",)}.get(source, ())


def policy_words(row: Policy) -> str:
    """Write a constant as people say it."""
    if isinstance(row.value, bool):
        return _("on") if row.value else _("off")
    text = grouped(row.value) if isinstance(row.value, int) else _json(row.value)
    return shown(f"{text} {row.unit}".strip(), 80)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def of(source: str, row: Any, form: Mapping[str, str]) -> tuple[Ask, ...]:
    """Return the inputs of a page, with what was typed so far or else what stands there."""
    if source == "policy":
        return (_policy(row, form),)
    if source == "provider":
        return _provider(row, form)
    if source == "retention":
        least = (row.replay_horizon + row.retention_margin) / _DAY
        stands = row.archive_expiry or row.replay_horizon + row.retention_margin
        typed = form.get("expiry_days", f"{stands / _DAY:g}")
        hint = _("at least {days} days: replays and margin").format(days=f"{least:g}")
        return (Ask("expiry_days", _("Forget archived keys after, days"), typed, hint),)
    return ()


def _policy(row: Policy, form: Mapping[str, str]) -> Ask:
    if isinstance(row.value, bool):
        stands = "yes" if row.value else "no"
        return Ask("value", _("New value"), form.get("value", stands), "", _YES_NO)
    return Ask("value", _("New value"), form.get("value", _json(row.value)), shown(row.unit, 40))


def _provider(row: Provider, form: Mapping[str, str]) -> tuple[Ask, ...]:
    asks = [
        Ask(
            "class",
            _("Class"),
            form.get("class", row.class_field),
            _("what recovery may do"),
            _CLASSES,
        )
    ]
    for name, label, hint in _NUMBERS:
        stands = getattr(row, name.rstrip("?"))
        typed = form.get(name.rstrip("?"), "" if stands is None else str(stands))
        asks.append(Ask(name.rstrip("?"), label, typed, hint))
    for name, label, hint in _HORIZONS:
        asks.append(Ask(name, label, form.get(name, f"{getattr(row, name) / _DAY:g}"), hint))
    for name, label, words in _CHOICES:
        stands = getattr(row, name)
        if words == "yes_no":
            typed = form.get(name, "yes" if stands else "no")
            asks.append(Ask(name, label, typed, "", _YES_NO))
        else:
            options = tuple((word, word) for word in words.split("|"))
            asks.append(Ask(name, label, form.get(name, stands), "", options))
    return tuple(asks)


def policy_value(row: Policy, form: Mapping[str, str]) -> Any:
    """Read the new value of a constant in the shape of the old one."""
    text = form.get("value", "").strip()
    if isinstance(row.value, bool):
        return _yes(text, "value")
    if isinstance(row.value, str):
        return text
    try:
        return float(text) if "." in text else int(text)
    except ValueError as error:
        raise IncompleteError({"value": _("Type a number.")}) from error


def provider_values(form: Mapping[str, str]) -> dict[str, Any]:
    """Read the whole form of a provider; say everything that is wrong with it at once."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, *_words in _NUMBERS:
        _read(values, problems, name, form)
    for name, *_words in _HORIZONS:
        try:
            values[f"{name}_seconds"] = seconds_of_days(form.get(name, ""), name)
        except IncompleteError as error:
            problems |= error.problems
    for name, _label, words in _CHOICES:
        typed = form.get(name, "")
        if words == "yes_no" and typed in ("yes", "no"):
            values[name] = typed == "yes"
        elif typed in words.split("|"):
            values[name] = typed
        else:
            problems[name] = _("Choose one of the words.")
    if form.get("class") not in dict(_CLASSES):
        problems["class"] = _("Choose a class.")
    if problems:
        raise IncompleteError(problems)
    return {"class_": form["class"], **values}


def _read(
    values: dict[str, Any], problems: dict[str, str], name: str, form: Mapping[str, str]
) -> None:
    column, text = name.rstrip("?"), form.get(name.rstrip("?"), "").strip()
    if not text and name.endswith("?"):
        values[column] = CLEAR
    elif text.isascii() and text.isdigit() and len(text) < 12:
        values[column] = int(text)
    else:
        problems[column] = _("Type a whole number.")


def _yes(text: str, name: str) -> bool:
    if text not in ("yes", "no"):
        raise IncompleteError({name: _("Choose yes or no.")})
    return text == "yes"


def seconds_of_days(text: str, name: str) -> int:
    """Read a number of days as seconds."""
    try:
        number = float(text.strip())
    except ValueError as error:
        raise IncompleteError({name: _("Type a number of days.")}) from error
    if not 0 <= number <= _LONGEST_YEARS * 365:
        raise IncompleteError({name: _("Type a number of days, at most a hundred years.")})
    return round(number * _DAY.total_seconds())
