"""The Python door: one module per noun, one typed function per guarded operation.

A function takes its arguments by keyword and answers a frozen dataclass whose fields are exactly
the columns of the database function, in order: first ``outcome``, last ``detail``. A loss is such
an answer, never an exception; what raises is in ``ledger.errors``.

What n8n may call takes a ``Caller`` first, everything else ``actor=``, the name of who acts.
Nothing here decides anything: the guard is the database function of the same name
(``ledger/sql/functions/<name>.sql``). SQL is run by ``_call`` only.
"""
