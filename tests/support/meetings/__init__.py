"""Two operations that meet at the same rows: tests/statement/test_locks.py.

The first has written and not yet committed when the second comes. Each meeting is registered, by
noun, with what the second must answer once the first has committed.
"""

from tests.support.meetings import batches, jobs, people, records, registrations, sweeps
from tests.support.meetings.cases import MEETINGS, Meeting

__all__ = [
    "MEETINGS",
    "Meeting",
    "batches",
    "jobs",
    "people",
    "records",
    "registrations",
    "sweeps",
]
