"""Measures the ledger against plain statements, other programs, and itself at other sizes.

Nothing here is used by the program. It talks to PostgreSQL directly, in a database of its own that
is dropped at the end; the server must run on this machine, because CPU is read from /proc.
"""
