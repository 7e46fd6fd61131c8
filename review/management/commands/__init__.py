"""Commands of the console; one verb a file."""
