"""Management of the console."""
