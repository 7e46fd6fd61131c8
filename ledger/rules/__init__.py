"""Rules of targets, from a person's file to a function of the database.

``text`` reads the file, ``readset`` asks PostgreSQL what its queries read and lock, and refuses
what no lock protects, ``install`` makes the function. Nothing here runs when a record is written:
that is ``ledger/sql/functions/run_rules.sql``.
"""
