"""How large a batch of one table may be: measured on a copy, stored as a curve."""
