"""The German catalogue: it has every text the console looks up, and is compiled as it stands."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from ledger.local import ROOT

HOME = Path("review/locale/de/LC_MESSAGES")
READ = ("review", "templates")


@pytest.fixture
def tools() -> None:
    """Need GNU gettext; CI has it."""
    if all(map(shutil.which, ("xgettext", "msgmerge", "msgfmt"))):
        return
    (pytest.fail if os.environ.get("CI") else pytest.skip)("GNU gettext is not installed")


@pytest.fixture
def collected(tools: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    """Collect the words anew, beside the catalogue that is kept."""
    for name in READ:
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    settings.LOCALE_PATHS = [tmp_path / "review" / "locale"]
    call_command("makemessages", locale=["de"], no_obsolete=True, verbosity=0)
    return tmp_path / HOME


def compiled(catalogue: Path, *options: str) -> tuple[bytes, str]:
    """Compile a catalogue; return it, and what the compiler says."""
    words = ["msgfmt", *options, "--output-file=-", str(catalogue / "django.po")]
    done = subprocess.run(words, capture_output=True, check=True)
    return done.stdout, done.stderr.decode()


def test_every_text_has_its_german(collected: Path) -> None:
    """None is missing or a guess, and each has the places of the English one."""
    _, said = compiled(collected, "--statistics", "--check-format")
    assert re.fullmatch(r"\d{3,} translated messages\.\n", said), said


def test_the_catalogue_is_compiled_from_what_is_written(collected: Path) -> None:
    """What `up` reads is what stands in the file: no text is left from an older one."""
    kept = (ROOT / HOME / "django.mo").read_bytes()
    assert kept == compiled(ROOT / HOME)[0]
    assert len(kept) == len(compiled(collected)[0])
