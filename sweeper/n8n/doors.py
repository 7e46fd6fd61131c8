"""The names of the credentials through which workflows in n8n reach the ledger.

A workflow names its credentials; whoever installs workflows looks for these names.
"""

HTTP_DOOR = "Landed API"
"""Header authentication with a token of Landed's HTTP door."""
SQL_DOOR = "Landed PostgreSQL"
"""A login that is a member of the role for workflows."""

HTTP_TYPE, SQL_TYPE = "httpHeaderAuth", "postgres"
"""What n8n calls their types."""
