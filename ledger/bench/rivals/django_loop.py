"""django-q2 and django-tasks-db, tuned: one worker that asks again at once."""

import json
import os
import subprocess
import sys
import time
from typing import Any
from urllib.parse import unquote, urlsplit

import django
from django.conf import settings
from django.core.management import call_command, execute_from_command_line

from ledger.bench.database import PAYLOAD

LONGEST_S = 90
RATES = {
    "django_q": "SELECT count(*), extract(epoch FROM max(stopped) - min(stopped))"
    " FROM django_q_task",
    "django_tasks_db": "SELECT count(*), extract(epoch FROM max(finished_at) - min(finished_at))"
    " FROM django_tasks_database_dbtaskresult WHERE finished_at IS NOT NULL",
}
WORKERS = {
    "django_q": ["qcluster"],
    "django_tasks_db": ["db_worker", "--interval", "0", "--no-startup-delay", "--max-tasks"],
}


def configure(which: str, url: str) -> None:
    """Configure the least Django project that has this queue."""
    parts = urlsplit(url)
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path[1:],
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname,
        "PORT": parts.port,
        "CONN_MAX_AGE": None,
    }
    settings.configure(
        DATABASES={"default": database},
        INSTALLED_APPS=["django.contrib.contenttypes", which],
        USE_TZ=True,
        SECRET_KEY="bench",  # noqa: S106  signs nothing of anybody's
        TASKS={"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}},
        Q_CLUSTER={
            "name": "bench",
            "orm": "default",
            "workers": 1,
            "poll": 0.01,
            "bulk": 10,
            "save_limit": 0,
            "scheduler": False,
            "timeout": 60,
            "retry": 600,
        },
    )
    django.setup()


def nothing(note: dict[str, Any]) -> None:
    """Do nothing."""


def fill(which: str, jobs: int) -> None:
    """Put the jobs into the queue."""
    if which == "django_q":
        from django_q.tasks import async_task  # noqa: PLC0415  needs the settings

        for _ in range(jobs):
            async_task("ledger.bench.rivals.django_loop.nothing", PAYLOAD)
        return
    from ledger.bench.rivals import django_task  # noqa: PLC0415  needs the settings

    for _ in range(jobs):
        django_task.nothing.enqueue(PAYLOAD)


def measure(which: str, url: str, jobs: int) -> float:
    """Start the worker beside this process and return its jobs a second."""
    from django.db import connection  # noqa: PLC0415  needs the settings

    call_command("migrate", verbosity=0)
    fill(which, jobs)
    more = [str(jobs)] if which == "django_tasks_db" else []
    command = [sys.executable, "-m", "ledger.bench.rivals.django_loop", which, url, "0"]
    worker = subprocess.Popen([*command, *WORKERS[which], *more], stdout=subprocess.DEVNULL)
    until = time.monotonic() + LONGEST_S
    try:
        while True:
            with connection.cursor() as cursor:
                cursor.execute(RATES[which])
                done, took = cursor.fetchone()
            if done >= jobs or time.monotonic() > until:
                return float((done - 1) / float(took))
            time.sleep(0.2)
    finally:
        worker.terminate()
        worker.wait(30)


if __name__ == "__main__":
    queue, address, count, *arguments = sys.argv[1:]
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    configure(queue, address)
    if arguments:
        execute_from_command_line(["bench", *arguments])
    else:
        print(json.dumps({"rate": measure(queue, address, int(count))}))  # noqa: T201  its answer
