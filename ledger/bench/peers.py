"""P4 to P6: other programs that keep a queue or keys in PostgreSQL, on the same server."""

from ledger.bench.measure import Goal


def p4_to_p6(rounds, calls, say):
    return []
