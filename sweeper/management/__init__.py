"""Management of the sweeper."""
