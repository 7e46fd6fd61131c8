"""Django's handle on the ledger."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class LedgerConfig(AppConfig):
    """The ground floor; after each migrate the runtime roles get exactly the rights they need."""

    name = "ledger"
    verbose_name = "Ledger"

    def ready(self) -> None:
        """Connect the grants; they are imported here because they need the loaded models."""
        from ledger import crash, grants  # noqa: PLC0415  the app registry must be ready first

        post_migrate.connect(grants.apply, sender=self, dispatch_uid="ledger.grants.apply")
        crash.arm_from_environment()
