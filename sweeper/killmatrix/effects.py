"""The mock provider's memory: effects, stored answers and a searchable log; no HTTP here.

Charges follow the documented semantics of Stripe-like APIs: the first answer to a key is stored
and replayed for 24 hours, errors of the server included; the same key with other parameters is
an error; a key whose first request still runs answers 409; what fails validation is not stored.
"""

import hashlib
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from sweeper.killmatrix.server import Journal, Refused

KEY_LIFETIME_SECONDS = 24 * 3_600
MOST_EFFECTS = 100_000
KINDS = ("charges", "mail", "hook")


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; ``replayed`` where it is a stored one."""

    status: int
    body: dict[str, Any]
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """An error to answer with, before or after the effect took place."""

    status: int
    after_effect: bool = False


@dataclass(slots=True)
class _Stored:
    parameters: str
    at: float
    reply: Reply | None = None  # None while the first request runs


@dataclass
class Effects:
    """Everything the mock provider remembers; every change is one line of the journal."""

    journal: Journal
    index_delay: float = 0.0
    key_lifetime: float = KEY_LIFETIME_SECONDS
    clock: Callable[[], float] = time.time
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _counts: dict[str, Counter[str]] = field(default_factory=lambda: {k: Counter() for k in KINDS})
    _items: dict[str, list[tuple[float, dict[str, Any]]]] = field(
        default_factory=lambda: {k: [] for k in KINDS}
    )
    _keys: dict[str, _Stored] = field(default_factory=dict)
    _faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Remember what an earlier process wrote down."""
        for entry in self.journal.entries:
            self._remember(entry)
        self._numbers = itertools.count(len(self.journal.entries) + 1)

    def counts(self) -> dict[str, Any]:
        """Return how many effects there were, per kind and per key."""
        with self._lock:
            kinds = {
                kind: {"total": count.total(), "by_key": dict(count)}
                for kind, count in self._counts.items()
            }
        return {"provider": "mock", **kinds}

    def search(self, kind: str, member: str, value: str) -> list[dict[str, Any]]:
        """Return the items whose member is exactly this value, once the index has them."""
        horizon = self.clock() - self.index_delay
        with self._lock:
            return [
                item
                for at, item in self._items[kind]
                if at <= horizon and item.get(member) == value
            ]

    def fail_next(self, fault: Fault, times: int) -> None:
        """Answer the next requests with an error."""
        with self._lock:
            self._faults = [fault] * min(max(times, 0), 1_000)

    def charge(
        self, key: str | None, raw: bytes, item: dict[str, Any], *, delay: float = 0.0
    ) -> Reply:
        """Take a charge; with a key at most one effect, whatever is sent again."""
        parameters = hashlib.sha256(raw).hexdigest()
        if key is not None:
            earlier = self._begin(key, parameters)
            if earlier is not None:
                return earlier
        try:
            time.sleep(min(delay, 10.0))
            label = str(item.get("reference") or key or parameters)
            reply = self.effect("charges", label, item, key=key, parameters=parameters)
        except BaseException:
            with self._lock:
                self._keys.pop(key or "", None)
            raise
        return reply

    def effect(
        self,
        kind: str,
        label: str,
        item: dict[str, Any],
        *,
        key: str | None = None,
        parameters: str = "",
    ) -> Reply:
        """Let one effect happen (or fail), write it down, and return the answer."""
        with self._lock:
            if sum(len(items) for items in self._items.values()) >= MOST_EFFECTS:
                raise Refused(HTTPStatus.INSUFFICIENT_STORAGE, "full; start with a new state file")
            fault = self._faults.pop() if self._faults else None
            happened = fault is None or fault.after_effect
            number = f"{kind[:2]}_{next(self._numbers)}"
            body: dict[str, Any] = {"id": number, **{k: v for k, v in item.items() if k != "id"}}
            entry = {
                "kind": kind,
                "key": label,
                "at": self.clock(),
                "item": body if happened else None,
            }
            status = HTTPStatus.CREATED.value if fault is None else fault.status
            if fault is not None:
                body = {"error": {"type": "api_error", "message": "made to fail"}}
            refused = fault is not None and fault.status < HTTPStatus.INTERNAL_SERVER_ERROR
            if key is not None and refused and not happened:
                self._keys.pop(key, None)  # as if it had failed validation: nothing is stored
            elif key is not None:
                entry["stored"] = {
                    "key": key,
                    "parameters": parameters,
                    "status": status,
                    "body": body,
                }
            self.journal.add(entry)
            self._remember(entry)
        return Reply(status, body)

    def _begin(self, key: str, parameters: str) -> Reply | None:
        """Reserve a key for its first request, or return what every later one gets."""
        with self._lock:
            stored = self._keys.get(key)
            if stored is None or self.clock() - stored.at >= self.key_lifetime:
                self._keys[key] = _Stored(parameters, self.clock())
                return None
            if stored.reply is None:
                return _idempotency_error(HTTPStatus.CONFLICT, "the first request still runs")
            if stored.parameters != parameters:
                return _idempotency_error(
                    HTTPStatus.BAD_REQUEST, "the key was used with other parameters"
                )
            return Reply(stored.reply.status, stored.reply.body, replayed=True)

    def _remember(self, entry: dict[str, Any]) -> None:
        if entry["item"] is not None:
            self._counts[entry["kind"]][entry["key"]] += 1
            self._items[entry["kind"]].append((entry["at"], entry["item"]))
        if stored := entry.get("stored"):
            self._keys[stored["key"]] = _Stored(
                stored["parameters"], entry["at"], Reply(stored["status"], stored["body"])
            )


def _idempotency_error(status: HTTPStatus, message: str) -> Reply:
    return Reply(status.value, {"error": {"type": "idempotency_error", "message": message}})
