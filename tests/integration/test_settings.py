"""What the settings promise: strict by default, and fit for the internet behind a proxy."""

import stat
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from ledger.local import state_dir
from tests.support.processes import manage

PATIENCE = 60


def run(directory: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a management command to its end."""
    process = manage(directory, *arguments, **environment)
    output, _ = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess(process.args, process.returncode, output)


def test_deployment_check_finds_nothing_behind_a_proxy(tmp_path: Path) -> None:
    """Django's own list of what an installation on the internet needs is met."""
    checked = run(
        tmp_path,
        *("check", "--deploy", "--fail-level", "WARNING"),
        LANDED_HTTPS="1",
        LANDED_ALLOWED_HOSTS="console.example",
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://nobody@127.0.0.1:1/landed", "cannot be used"),
        ("sqlite:///landed", "starts with postgresql://"),
    ],
)
def test_unusable_database_is_said_in_one_line(tmp_path: Path, url: str, words: str) -> None:
    """No traceback stands between a person and what to correct."""
    failed = run(tmp_path, "ensure_roles", DATABASE_URL=url)
    assert failed.returncode == 1
    assert words in failed.stdout
    assert "Traceback" not in failed.stdout


def test_debug_is_off_and_the_key_is_private() -> None:
    """Nobody has to remember it."""
    assert settings.DEBUG is False
    assert len(settings.SECRET_KEY) > 50
    assert stat.S_IMODE((state_dir() / "secret-key").stat().st_mode) == 0o600


@pytest.mark.django_db
def test_every_page_carries_the_strict_policy(client: Client) -> None:
    """Nothing loads that is not our own."""
    page = client.get(reverse("admin:login"))
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["X-Frame-Options"] == "DENY"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
