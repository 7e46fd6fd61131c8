"""Commands of the sweeper; one verb a file."""
