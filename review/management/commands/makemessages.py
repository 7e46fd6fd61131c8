"""`manage.py makemessages -l de`: collect the words of the console as Django does, by our marks."""

from django.core.management.commands.makemessages import Command as Collect


class Command(Collect):
    """Also know ``later`` and ``plural`` of review.language."""

    xgettext_options = [
        *Collect.xgettext_options,
        "--keyword=later",
        "--keyword=plural:1,2",
        "--no-location",
    ]
