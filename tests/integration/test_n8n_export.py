"""`manage.py n8n export`: the shipped workflows as files, with this console's address in them."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from ledger.operations.policies import set_policy
from sweeper.demo.lab import known_lab
from sweeper.n8n import templates

pytestmark = pytest.mark.django_db(transaction=True)


def test_all_of_them_are_written_with_the_addresses_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file is there, and calls the console and the receiver that were named."""
    call_command(
        *("n8n", "export", str(tmp_path), "--console", "https://landed.example/"),
        *("--receiver", "https://shop.example"),
    )

    assert sorted(path.stem for path in tmp_path.iterdir()) == templates.names()
    text = (tmp_path / "guarded-webhook-http.json").read_text()
    assert "https://landed.example/api/v1/jobs/claim?" in text
    assert "https://shop.example/hook" in text
    assert "https://landed.example" in capsys.readouterr().out


def test_what_this_installation_knows_is_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without addresses it is the console that runs, and the demo's receiver where there is one."""
    monkeypatch.setenv("LANDED_URL", "http://127.0.0.1:8765")
    set_policy(name="demo", value=True, actor="command:test", reason="a test")

    call_command("n8n", "export", str(tmp_path), "guarded-webhook-http")

    (file,) = tmp_path.iterdir()
    urls = [node["parameters"].get("url", "") for node in json.loads(file.read_text())["nodes"]]
    assert f"{known_lab().provider}/hook" in urls
    assert any(url.startswith("http://127.0.0.1:8765/api/v1/") for url in urls)


def test_a_name_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    """Nothing is written for a name that does not exist."""
    with pytest.raises(CommandError, match=r"no template mail.*guarded-webhook-http"):
        call_command("n8n", "export", str(tmp_path / "new"), "mail")

    assert not (tmp_path / "new").exists()
