"""The SQL of the ledger: functions, views, triggers, and the operations that install them."""
