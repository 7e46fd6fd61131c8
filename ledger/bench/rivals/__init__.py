"""The loops of other programs, each a program of its own: `python -m ledger.bench.rivals.<name>`.

Each takes the address of an empty database and a number of jobs, and prints one JSON object.
"""
