"""Management of the ledger."""
