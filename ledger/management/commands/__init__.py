"""Commands of the ledger; one verb a file."""
