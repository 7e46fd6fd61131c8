"""Broken promises as exceptions. A lost race is not here: it is an outcome, a value."""


class LedgerError(Exception):
    """Base of everything the ledger raises. Never raised directly."""

    code = "ledger_error"


class InvalidArgumentError(LedgerError):
    """The argument is no JSON object, so no operation could even refuse it."""

    code = "invalid_argument"


class IsolationLevelError(LedgerError):
    """An operation was called under another isolation level than READ COMMITTED."""

    code = "isolation_level"


class NotRecordedError(LedgerError):
    """The database did not answer: nothing is known to be recorded, calling again is right."""

    code = "not_recorded"


class GuardBypassedError(LedgerError):
    """Code tried to write a ledger row, or to run an operation inside a transaction."""

    code = "guard_bypassed"
