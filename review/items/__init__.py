"""One item of the queue as a page shows it: reads the ledger, judges nothing, writes nothing.

conflict.py assembles the page of a conflict, other.py that of any other source; page.py holds the
dataclasses the templates render.
"""
