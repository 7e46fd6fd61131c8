-- Undo the foundation; the tables themselves go with the migration before.
DROP SCHEMA ledger_rules CASCADE;
DROP SCHEMA ledger CASCADE;
