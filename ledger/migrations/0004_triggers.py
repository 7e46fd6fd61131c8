"""Hang the triggers on the tables."""

from django.db import migrations

from ledger.sql.install import RunFrozen


class Migration(migrations.Migration):
    """Run after the trigger functions exist."""

    dependencies = [("ledger", "0003_functions")]

    operations = [RunFrozen("triggers", "0004_triggers.sql", "0004_triggers_undo.sql")]
