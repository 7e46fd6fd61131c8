"""Django's handles on the console and on the admin it is built on."""

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig
from django.db.models.signals import post_migrate


class ReviewConfig(AppConfig):
    """The top floor: the site and the humans."""

    name = "review"
    verbose_name = "Review"

    def ready(self) -> None:
        """Register the admin's tables and make the roles after every migrate."""
        from review import admin, roles  # noqa: F401, PLC0415 - the models are ready only now
        from review.access import second_factor, sessions, throttle  # noqa: PLC0415 - as above

        for each in (second_factor, sessions, throttle):
            each.connect()
        post_migrate.connect(roles.ensure_roles, sender=self, dispatch_uid="review.roles")


class ConsoleAdminConfig(SimpleAdminConfig):
    """The stock admin under our own site.

    Without autodiscovery: the scheduler's own pages would run whatever its pickles contain.
    """

    default = False
    default_site = "review.site.ConsoleSite"
