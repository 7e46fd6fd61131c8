"""What an n8n says of one execution, and asking it to stop one: its public API, two calls.

An execution is asked for by its id and never looked for in a list, which leaves out what runs or
waits. Whatever is not n8n's own clear answer is ``unreachable``, in words an operator understands;
the API key stands in none of them. What follows from an answer is decided elsewhere.
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from sweeper.errors import LookupInconclusiveError, ProviderError, ProviderUnavailableError
from sweeper.n8n.instances import Instance
from sweeper.transport import Answer, Limits, request

# An n8n answers in milliseconds; one that does not must not hold up the runs of the others.
LIMITS = Limits(seconds=5.0, max_bytes=65_536)

# An id goes into an address, so nothing but a number that JavaScript can count to is ever asked.
EXECUTION_ID = re.compile(r"[1-9][0-9]{0,15}")

STATUSES = frozenset(
    {"new", "running", "waiting", "success", "error", "crashed", "canceled", "unknown"}
)
LONGEST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Look:
    """One answer about an execution: n8n's word, ``not_found`` or ``unreachable`` with why."""

    status: str
    stopped_at: datetime | None = None
    reason: str = ""

    @property
    def answered(self) -> bool:
        """Say whether n8n said something about the execution."""
        return self.status != "unreachable"


@dataclass(frozen=True, slots=True)
class Stop:
    """What became of asking for a stop. ``taken`` is n8n's word, and no proof of an end."""

    taken: bool
    words: str


def look(instance: Instance, execution_id: str) -> Look:
    """Ask for one execution."""
    if not EXECUTION_ID.fullmatch(execution_id):
        return Look("not_found", reason="an execution of n8n has a number; this is none")
    try:
        answer = _call("GET", instance, execution_id)
        return _read(answer, instance, execution_id)
    except (ProviderError, LookupInconclusiveError) as error:
        return Look("unreachable", reason=_plain(error))


def stop(instance: Instance, execution_id: str) -> Stop:
    """Ask n8n to stop an execution. What became of it, only a later look can say."""
    try:
        answer = _call("POST", instance, f"{execution_id}/stop")
    except ProviderError as error:
        return Stop(taken=False, words=_plain(error))
    message = _message(answer)
    match answer.status:
        case 200:
            return Stop(taken=True, words="n8n took the request to stop")
        case 404 if message == "not found":  # the address itself is unknown: n8n before 2.10
            words = "this n8n cannot be asked to stop an execution; stop it there"
        case 404:
            words = "n8n knows no such execution"
        case 409:
            words = f"n8n has nothing to stop: {message}"
        case _:
            words = _refused(answer.status, instance, "execution:stop")
    return Stop(taken=False, words=words)


def _call(method: str, instance: Instance, path: str) -> Answer:
    return request(
        method,
        f"{instance.url}/api/v1/executions/{path}",
        headers={"X-N8N-API-KEY": instance.api_key(), "Accept": "application/json"},
        allow_private=[*settings.LANDED_PRIVATE_HOSTS, *instance.own_hosts],
        limits=LIMITS,
    )


def _read(answer: Answer, instance: Instance, execution_id: str) -> Look:
    """Read what n8n said; what is not plainly about this execution says nothing of it."""
    if answer.status == 404 and _message(answer) == "Not Found":
        return Look("not_found", reason="n8n knows no such execution, or does not keep it")
    if answer.status != 200:
        return Look("unreachable", reason=_refused(answer.status, instance, "execution:read"))
    document = _document(answer)
    if document is None or str(document.get("id")) != execution_id:
        return Look("unreachable", reason="what answers there is no n8n")
    stopped_at = document.get("stoppedAt")
    try:
        stopped = None if stopped_at is None else _time(stopped_at)
    except (TypeError, ValueError):
        return Look("unreachable", reason="n8n gave a stop time that cannot be read")
    status = document.get("status")
    if not isinstance(status, str) or status not in STATUSES:
        return Look("unknown", reason=f"n8n gave a status that is not known here: {status!r:.40}")
    return Look(status, stopped)


def _time(text: Any) -> datetime:
    """Read a time that says its zone."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("a time without a zone")
    return time


def _document(answer: Answer) -> dict[str, Any] | None:
    """Return the body where it is a whole JSON object."""
    try:
        document = json.loads(answer.whole_body())
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _message(answer: Answer) -> str:
    """Return n8n's own words about a call it did not follow, none where they cannot be read."""
    try:
        document = _document(answer) or {}
    except LookupInconclusiveError:
        return ""
    words = str(document.get("message", ""))
    return "".join(letter for letter in words if letter.isprintable())[:LONGEST_WORDS]


def _refused(status: int, instance: Instance, scope: str) -> str:
    """Say what an operator does about a status that is no answer."""
    match status:
        case 401:
            return f"n8n does not take the API key in {instance.key_place} (401)"
        case 403:
            return f"the API key in {instance.key_place} lacks the scope {scope} (403)"
        case 404:
            return f"there is no API of n8n at {instance.url} (404)"
        case _ if 300 <= status < 400:
            return f"{instance.url} leads elsewhere ({status}); give the address it leads to"
        case _:
            return f"n8n answered {status}"


def _plain(error: Exception) -> str:
    """Say it in the words of whoever set the address."""
    words = str(error).replace("allow_private", "LANDED_PRIVATE_HOSTS")
    silent = isinstance(error, ProviderUnavailableError)
    return f"n8n did not answer: {words}" if silent else words
