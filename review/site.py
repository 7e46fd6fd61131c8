"""The console's admin site."""

from django.contrib.admin import AdminSite


class ConsoleSite(AdminSite):
    """The stock admin under our own name."""

    site_title = site_header = "Landed"
