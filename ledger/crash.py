"""Named points where a process can be made to die, for whoever proves that it may.

Lives here: the seam and its switch. Must not live here: who dies where (the kill matrix, the
tests). There is a point before and after every statement, each of which commits by itself, and
around every step on the network. Unless LANDED_CRASH_AT names a point nothing is switched on.
"""

import os
import re
import signal
import sys
from collections.abc import Callable
from typing import Any

VARIABLE = "LANDED_CRASH_AT"
"""A point's name, with #2 where it is the second time that counts."""

_OPERATION = re.compile(r'ledger\."?(\w+)')
_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE) "?(?:public"?\."?)?(\w+)')

Hook = Callable[[str], None]
_hook: Hook | None = None


def crash_point(name: str) -> None:
    """Be a point where this process may die."""
    if _hook is not None:
        _hook(name)


def arm(hook: Hook | None) -> None:
    """Let a hook see every point from now on, those around statements included; None ends it."""
    from django.db import connections  # noqa: PLC0415 - the seam itself needs no Django
    from django.db.backends.signals import connection_created  # noqa: PLC0415

    global _hook  # noqa: PLW0603 - one switch per process
    _hook = hook
    connection_created.connect(_wrap, dispatch_uid=VARIABLE)
    for connection in connections.all(initialized_only=True):
        _wrap(connection=connection)


def arm_from_environment() -> None:
    """Die at the point the environment names, if it names one."""
    name, _, times = os.environ.get(VARIABLE, "").partition("#")
    if name:
        arm(_Death(name, int(times or 1)))


class _Death:
    """Kills this process when it comes to a point for the nth time."""

    def __init__(self, name: str, times: int) -> None:
        self._name, self._left = name, times

    def __call__(self, name: str) -> None:
        self._left -= name == self._name
        if not self._left:
            die(name)


def die(name: str) -> None:
    """End this process as SIGKILL ends it: nothing is cleaned up, nobody is told."""
    sys.stderr.write(f"crash point {name}: process {os.getpid()} kills itself\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def _wrap(*, connection: Any, **_: Any) -> None:
    """Put the seam around every statement of a connection."""
    if _around_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(_around_statement)


def _around_statement(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
    name = step(sql if isinstance(sql, str) else sql.as_string(None))
    crash_point(f"{name}.before")
    result = execute(sql, params, many, context)
    crash_point(f"{name}.after")
    return result


def step(statement: str) -> str:
    """Name a statement by its operation, or by the table it reads."""
    if called := _OPERATION.search(statement):
        return called[1]
    read = _TABLE.search(statement)
    return f"read_{read[1]}" if read else "statement"
