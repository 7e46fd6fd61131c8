"""n8n: which instances there are, what is asked of one, and the workflows that go into it.

``client`` asks for executions, for the reconciler; ``api`` writes workflows; ``lint`` judges
exports and touches nothing; ``engine`` is an n8n of this installation's own; ``commands`` are
what people call.
"""
