"""Drivers found by name, and failures that become answers instead of exceptions."""

from dataclasses import dataclass

import pytest

from sweeper.errors import (
    LookupInconclusiveError,
    ProviderRejectedError,
    ProviderUnavailableError,
)
from sweeper.providers import base
from sweeper.providers.base import Absent, Config, Identity, LookUp, SendResult, Sent, Unknown

IDENTITY = Identity("job-1", "charge:1", "<1@landed>")


@dataclass
class Broken:
    """A driver that fails in a chosen way."""

    error: Exception
    asks: bool = True

    def can_look_up(self, config: Config) -> bool:
        """Pretend."""
        return self.asks

    def check(self, config: Config) -> None:
        """Know no setting."""

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Fail."""
        raise self.error

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Fail."""
        raise self.error


def test_drivers_are_found_by_module_name() -> None:
    """Each shipped driver is one module with one object."""
    for name in ("http_key", "smtp_imap", "webhook"):
        assert base.load(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "nobody",
        "base",
        "http_template",
        "http_answer",
        "template",
        "oauth",
        "os",
        "../x",
        "http_key.DRIVER",
        "HttpKey",
        "__init__",
    ],
)
def test_whatever_is_no_driver_is_none(name: str | None) -> None:
    """A name from a row imports nothing but a driver."""
    assert base.load(name) is None


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ProviderUnavailableError("refused", sent=False), Sent.REJECTED),
        (ProviderUnavailableError("reset", sent=True), Sent.UNKNOWN),
        (ProviderRejectedError("no url"), Sent.REJECTED),
        (LookupInconclusiveError("?"), Sent.UNKNOWN),
        (RuntimeError("a bug"), Sent.UNKNOWN),
        (TimeoutError("slow"), Sent.UNKNOWN),
    ],
)
def test_a_failing_send_is_rejected_only_with_proof(error: Exception, outcome: Sent) -> None:
    """In doubt the answer is unknown: rejected would allow another send."""
    result = base.send(Broken(error), IDENTITY, b"{}", {})
    assert result.outcome is outcome
    assert result.reason


@pytest.mark.parametrize(
    "error",
    [
        ProviderUnavailableError("refused", sent=False),
        ProviderRejectedError("no url"),
        LookupInconclusiveError("half an answer"),
        RuntimeError("a bug"),
    ],
)
def test_a_failing_look_up_is_never_absent(error: Exception) -> None:
    """An error proves nothing about the effect."""
    assert isinstance(base.look_up(Broken(error), IDENTITY, {}), Unknown)


def test_nobody_to_ask_is_unknown_too() -> None:
    """A missing driver, or a configuration without a look-up, is not an empty answer."""
    assert isinstance(base.look_up(None, IDENTITY, {}), Unknown)
    assert isinstance(base.look_up(Broken(RuntimeError(), asks=False), IDENTITY, {}), Unknown)
    assert not isinstance(base.look_up(None, IDENTITY, {}), Absent)


def test_secrets_come_from_their_own_variables_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who edits a provider cannot read the process's other variables."""
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    monkeypatch.setenv("LANDED_SECRET_KEY", "s3cret")
    assert base.secret("LANDED_SECRET_KEY") == "s3cret"
    with pytest.raises(ProviderRejectedError, match="LANDED_SECRET_"):
        base.secret("DATABASE_URL")
    with pytest.raises(ProviderRejectedError, match="not set"):
        base.secret("LANDED_SECRET_OTHER")


def test_settings_have_types() -> None:
    """A wrong type is refused by name, a missing one takes the default."""
    config = {"port": "25", "seconds": 3, "flag": True}
    assert base.setting({}, "port", int, 25) == 25
    assert base.setting(config, "seconds", float) == 3.0
    for name, kind in (("port", int), ("flag", int), ("flag", float), ("absent", str)):
        with pytest.raises(ProviderRejectedError, match=f"{name} must be"):
            base.setting(config, name, kind)
