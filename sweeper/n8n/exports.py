"""Reading exported workflows from disk, for the commands that lint and deploy them."""

from collections.abc import Iterable
from pathlib import Path

from sweeper.errors import SweeperError


class ExportError(SweeperError):
    """A path that holds no export that can be read."""


def texts(paths: Iterable[str]) -> dict[str, str]:
    """Return the text of each file by its path; a folder stands for every .json below it.

    A byte that is no UTF-8 is replaced, so that the file is still read and its workflow judged.
    """
    found: dict[str, str] = {}
    for name in paths:
        path = Path(name)
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        if not files:
            raise ExportError(f"{name} holds no .json file.")
        for file in files:
            try:
                found[str(file)] = file.read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise ExportError(f"{file} cannot be read: {error.strerror}.") from error
    return found
