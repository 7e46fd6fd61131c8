"""What a driver is, what it answers, and how one is found by name.

A driver moves bytes and reports what it saw. It decides nothing: classes, windows and retries are
the ledger's and the sweeper's. Its configuration is data of the provider's row; secrets are named
there, never written there.
"""

import importlib.util
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol, cast

from sweeper.errors import ProviderRejectedError, ProviderUnavailableError, SweeperError

logger = logging.getLogger(__name__)

Config = Mapping[str, Any]

# Configuration may name secrets only under this prefix, so that whoever edits a provider cannot
# have the process's own credentials sent to a host of their choice.
VARIABLE_PREFIX = "LANDED_SECRET_"

# How long one call may take. A tick and a lease have to outlive it.
DEFAULT_SECONDS = 15.0
MOST_SECONDS = 60.0

# Driver names come from rows; only a plain module name of this package is ever imported.
DRIVER_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies one effect at its provider; the same on every attempt."""

    job_id: str
    provider_key: str
    handle: str


@dataclass(frozen=True, slots=True)
class Found:
    """The provider shows the effect."""

    provider_ref: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """The provider answered, completely, and does not show the effect (yet)."""

    detail: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """No usable answer; never to be read as absent."""

    reason: str


LookUp = Found | Absent | Unknown

# The kind of evidence each answer is.
KINDS: Mapping[type[LookUp], str] = {
    Found: "lookup_found",
    Absent: "lookup_absent",
    Unknown: "lookup_error",
}


def words(answer: LookUp) -> str:
    """Return what an answer says, for the evidence."""
    return answer.reason if isinstance(answer, Unknown) else answer.detail


class Sent(StrEnum):
    """What is known after a send. ``rejected`` is a proof that this send had no effect."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SendResult:
    """The answer to one send; ``replayed`` marks a stored answer to an earlier one."""

    outcome: Sent
    reason: str = ""
    http_status: int | None = None
    provider_ref: str | None = None
    replayed: bool = False
    result: Any = None


class Driver(Protocol):
    """One way of sending and, where the provider can be asked, of looking up."""

    def can_look_up(self, config: Config) -> bool:
        """Say whether this configuration describes a look-up."""

    def check(self, config: Config) -> None:
        """Raise ProviderRejectedError for a configuration that cannot work; call nobody."""

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Send the payload (JSON text as it was stored) once."""

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Ask the provider whether the effect is there."""


def load(name: str | None) -> Driver | None:
    """Return the driver of that module name; None means nobody here can ask this provider."""
    if name is None or not DRIVER_NAME.fullmatch(name):
        return None
    path = f"{__package__}.{name}"
    if importlib.util.find_spec(path) is None:
        return None
    return cast("Driver | None", getattr(importlib.import_module(path), "DRIVER", None))


def send(driver: Driver, identity: Identity, payload: bytes, config: Config) -> SendResult:
    """Send through a driver; whatever goes wrong becomes an answer, and in doubt an unknown."""
    try:
        return driver.send(identity, payload, config)
    except ProviderUnavailableError as error:
        outcome = Sent.UNKNOWN if error.sent else Sent.REJECTED
        return SendResult(outcome, str(error))
    except ProviderRejectedError as error:
        return SendResult(Sent.REJECTED, str(error))
    except Exception as error:
        logger.exception("driver failed while sending job %s", identity.job_id)
        return SendResult(Sent.UNKNOWN, f"the driver failed: {error!r}")


def look_up(driver: Driver | None, identity: Identity, config: Config) -> LookUp:
    """Look up through a driver; whatever goes wrong is an unknown, never an absence."""
    if driver is None or not driver.can_look_up(config):
        return Unknown("no driver here can ask this provider")
    try:
        return driver.look_up(identity, config)
    except SweeperError as error:
        return Unknown(str(error))
    except Exception as error:
        logger.exception("driver failed while looking up job %s", identity.job_id)
        return Unknown(f"the driver failed: {error!r}")


def setting[T](config: Config, name: str, kind: type[T], default: T | None = None) -> T:
    """Return one setting of the right type, or refuse with its name.

    A driver reads all its settings before it sends: a refusal afterwards would be taken as proof
    that nothing was sent.
    """
    value = config.get(name, default)
    if kind is float and isinstance(value, int | Decimal) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ProviderRejectedError(f"provider configuration: {name} must be a {kind.__name__}")
    return value


def check_settings(config: Config, known: Mapping[str, type], where: str = "") -> None:
    """Refuse a setting nobody reads, one of the wrong type, and a variable that is no secret's.

    All would be found too late: when something is to be sent.
    """
    for name in config:
        place = f"{where}.{name}" if where else name
        if name not in known:
            raise ProviderRejectedError(
                f"provider configuration: {place} is no setting; known are {', '.join(known)}"
            )
        value: Any = setting({place: config[name]}, place, known[name])
        if name.endswith("_env"):
            secret_name(value)


def timeout(config: Config) -> float:
    """Return how long one call may take; a worker and a sweeper wait for it."""
    seconds = setting(config, "timeout_seconds", float, DEFAULT_SECONDS)
    if not 0 < seconds <= MOST_SECONDS:
        raise ProviderRejectedError(f"timeout_seconds lies between 0 and {MOST_SECONDS:g}")
    return seconds


def secret_name(name: str) -> str:
    """Return the name of a secret's variable, or refuse one that may not be read."""
    if not name.startswith(VARIABLE_PREFIX):
        raise ProviderRejectedError(f"provider secrets are variables named {VARIABLE_PREFIX}…")
    return name


def secret(name: str) -> str:
    """Return a secret by the name of its environment variable."""
    value = os.environ.get(secret_name(name))
    if not value:
        raise ProviderRejectedError(f"the secret {name} is not set in this process")
    return value
