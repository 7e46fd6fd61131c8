"""The task django-tasks-db works; a worker imports it by its name."""

from typing import Any

from django.tasks import task


@task()
def nothing(note: dict[str, Any]) -> None:
    """Do nothing."""
