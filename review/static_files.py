"""Collected static files, kept up to date without asking anybody.

Lives here: collecting again when a source file changed. Must not live here: serving (WhiteNoise).
"""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command

from ledger.local import FileLock, state_dir


def collect_if_changed() -> bool:
    """Collect the static files unless they are what was collected last; True when it did."""
    with FileLock(state_dir() / "static.lock"):
        stamp = state_dir() / "static.stamp"
        now = _fingerprint()
        manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
        if manifest.exists() and stamp.exists() and stamp.read_text() == now:
            return False
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(now)
        return True


def _fingerprint() -> str:
    """Sum up name, size and time of every source file."""
    digest = hashlib.sha256(f"{settings.STORAGES} {settings.STATIC_ROOT}".encode())
    for finder in finders.get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
