"""`manage.py lint_workflows` and `lint_rules` as a person types them."""

import builtins
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from sweeper.n8n.lint.example import GUARDED, TRIGGER, flow, post


def run(*words: str) -> tuple[str, int]:
    """Run the command; return what it said and its exit code."""
    said = StringIO()
    try:
        call_command("lint_workflows", *words, stdout=said, stderr=said)
    except SystemExit as stopped:
        return said.getvalue(), int(stopped.code or 0)
    return said.getvalue(), 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with one good and one bad export, one of them below."""
    (tmp_path / "below").mkdir()
    (tmp_path / "good.json").write_text(json.dumps(flow(*GUARDED)))
    (tmp_path / "below" / "bad.json").write_text(json.dumps(flow(TRIGGER, post("Send"))))
    return tmp_path


def test_a_folder_is_read_whole_and_a_finding_is_exit_code_1(folder: Path) -> None:
    """Text by default, the path as it was found."""
    said, code = run(str(folder))
    assert (code, said.splitlines()[-1]) == (1, "2 workflows: 1 finding.")
    assert said.startswith(f"{folder}/below/bad.json: example / Send: LW301")
    assert run(str(folder / "good.json")) == ("1 workflow: no findings.\n", 0)


def test_a_baseline_is_written_and_then_only_what_is_new_is_told(folder: Path) -> None:
    """Adopting step by step."""
    known = str(folder / "known.txt")
    assert run(str(folder), "--write-baseline", known) == (f"{known} knows 1 findings.\n", 0)
    assert run(str(folder), "--baseline", known) == ("2 workflows: no findings.\n", 0)
    (folder / "new.json").write_text(json.dumps(flow(TRIGGER, post("Other"))))
    said, code = run(str(folder), "--baseline", known)
    assert (code, "Other" in said, "Send" in said) == (1, True, False)
    with pytest.raises(CommandError, match="cannot be used: this is no baseline"):
        run(str(folder), "--baseline", str(folder / "good.json"))


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_other_forms_go_to_a_file(folder: Path, form: str) -> None:
    """For scripts and for tools of code review."""
    output = folder / "told.txt"
    said, code = run(str(folder), "--format", form, "--output", str(output))
    assert (code, said) == (1, "")
    told = json.loads(output.read_text())
    results = told["findings"] if form == "json" else told["runs"][0]["results"]
    assert len(results) == 1


def test_bytes_that_are_no_utf8_and_empty_folders_are_told(tmp_path: Path) -> None:
    """A file is judged as far as it can be read; a folder without one is a mistake."""
    (tmp_path / "odd.json").write_bytes(b'{"nodes": [{"type": "\xff", "name": "\xff"}]}')
    assert run(str(tmp_path / "odd.json"))[1] == 0
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match=r"holds no \.json file"):
        run(str(tmp_path / "empty"))


def test_a_missing_parser_says_how_to_get_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group is optional; the message is not."""
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("sweeper.n8n.lint"):
            raise ModuleNotFoundError("No module named 'sqlglot'", name="sqlglot")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        CommandError, match="needs sqlglot, which is not installed: uv sync --group"
    ):
        run(str(folder))


def test_the_page_of_rules_is_compared() -> None:
    """The same check as in the unit tests, as a person runs it."""
    call_command("lint_rules", "--check")
