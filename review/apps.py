"""Django's handles on the console and on the admin it is built on."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ReviewConfig(AppConfig):
    """The top floor: the site and the humans."""

    name = "review"
    verbose_name = "Review"


class ConsoleAdminConfig(AdminConfig):
    """The stock admin under our own site."""

    default = False
    default_site = "review.site.ConsoleSite"
