"""Drivers: one small file per way of sending and looking up; they know nothing of each other."""
