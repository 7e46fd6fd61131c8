"""Decision tables as pure functions: facts in, decision out, no clock and no I/O."""
