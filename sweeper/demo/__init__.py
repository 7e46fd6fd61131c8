"""The demonstration: two workflows at work on made-up customers, over the doors everybody uses.

No row is written here as a fixture: what the queue shows afterwards was lost, dropped or stopped by
real calls over HTTP, through the shipped relay in front of the shipped mock provider.
"""
