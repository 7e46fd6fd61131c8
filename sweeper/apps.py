"""Django's handle on the sweeper."""

from django.apps import AppConfig


class SweeperConfig(AppConfig):
    """The middle floor: recovery of work whose outcome is unknown."""

    name = "sweeper"
    verbose_name = "Sweeper"
