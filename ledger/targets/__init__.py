"""Tables of the user as targets: what may be one, and what registering adds to it.

``wanted`` is what was asked for and the refusals that need no look at the table, ``table`` looks at
the table and gives it revisions and history, ``clients`` makes the table of one client. Run by the
owner, from ``manage.py register_target``; no workflow reaches any of it.
"""
