"""What it means that the database is away: for whoever answers or logs, not for operations."""

import logging

from django.db import InterfaceError, OperationalError

from ledger.errors import NotRecordedError

AWAY = (OperationalError, InterfaceError, NotRecordedError)
"""Raised where the database did not answer: nothing is known to be recorded."""


class OneLineWhileAway(logging.Filter):
    """Logs a request that failed because the database was away in one line, not with its stack."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record where that was why; all are logged."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, AWAY):
            record.exc_info, record.exc_text = None, None
            first = (str(error).splitlines() or [""])[0]
            record.msg, record.args = f"{record.getMessage()}: the database is away: {first}", None
        return True
