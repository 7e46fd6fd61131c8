"""Crashes at every point: a world to crash in, chains of turns, and processes that really die.

world.py   the rows and the time that passes
wire.py    the relay and the provider, as servers or without sockets
chain.py   turns of worker, sweeper, outbox, dead letters and reconciler until all is decided
forked.py  a turn in a process of its own that is killed
"""
