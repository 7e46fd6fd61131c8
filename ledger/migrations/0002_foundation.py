"""Lay the ground of the functions: schema, outcomes, partitions."""

from django.db import migrations

from ledger.sql.install import RunFrozen


class Migration(migrations.Migration):
    """Run after the plain tables exist."""

    dependencies = [("ledger", "0001_initial")]

    operations = [RunFrozen("foundation", "0002_foundation.sql", "0002_foundation_undo.sql")]
