-- Undo the foundation; the tables themselves go with the migration before.
DROP SCHEMA ledger CASCADE;
