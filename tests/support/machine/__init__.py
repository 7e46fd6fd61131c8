"""A machine that does everything to the ledger, in any order, for test_ledger_machine.py.

Lives here: the world it works on, its rules, what the audit alone tells (fold), and what must hold
after every step (checks).
"""
