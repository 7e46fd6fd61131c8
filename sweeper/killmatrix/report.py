"""What a kill matrix says: a table to read, JSON and JUnit for machines, a page for people.

Pure but for the writing of files. What is expected of a cell is in ``cells``.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from sweeper.killmatrix.cells import FEWEST, Cell

COLUMNS = ("cell", "what", "class", "killed", "relay log", "effects", "state", "verdict")
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Kill matrix</title>
<style>body{{font:16px system-ui;margin:2rem}}table{{border-collapse:collapse}}
td,th{{border:1px solid #999;padding:.3rem .6rem;text-align:left}}.red{{background:#fdd}}</style>
<h1>Kill matrix: {verdict}</h1>
<p>{sentence}</p>
<table><tr>{head}</tr>{rows}</table></html>
"""


def build(
    cells: Sequence[Cell], *, provider: str, seconds: float, code: str, commit: str, whole: bool
) -> dict[str, Any]:
    """Put a report together; a matrix that asked for everything and has too little is red."""
    listed = [cell.as_json() for cell in cells]
    problems = [
        f"cell {cell['cell']} {cell['class']}: {fault}"
        for cell in listed
        for fault in cell["faults"]
    ]
    if whole and len(cells) < FEWEST:
        problems.append(f"only {len(cells)} cells were run, {FEWEST} are the least")
    return {
        "ran_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "provider": provider,
        "commit": commit,
        "code": code,
        "whole": whole,
        "ok": not problems,
        "problems": problems,
        "cells": listed,
    }


def sentence(report: Mapping[str, Any]) -> str:
    """Say in a sentence what was run, against what, and of which code it speaks."""
    against = report["provider"]
    where = "at the mock provider" if against == "mock" else f"at {against}, by the relay's log"
    return (
        f"{len(report['cells'])} cells in {report['seconds']:.0f} s on {report['ran_at']};"
        f" effects counted {where}; commit {report['commit'] or 'unknown'},"
        f" code {report['code']}."
    )


def row(cell: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one cell as words under ``COLUMNS``."""
    kills = ", ".join(
        f"{k['process']} {k['pid']} at {k['point']} ({k['signal']})" for k in cell["kills"]
    )
    return (
        cell["cell"],
        cell["title"],
        cell["class"],
        kills,
        ", ".join(map(str, cell["relay_log"])) or "-",
        str(cell["effects"]),
        cell["state"],
        "; ".join(cell["faults"]) or "as expected",
    )


def table(report: Mapping[str, Any]) -> str:
    """Return the cells as lines with columns."""
    rows = [COLUMNS, *(row(cell) for cell in report["cells"])]
    widths = [max(len(line[n]) for line in rows) for n in range(len(COLUMNS))]
    lines = (
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True))
        for line in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def junit(report: Mapping[str, Any]) -> str:
    """Return the report as JUnit XML, one test case a cell."""
    suite = ET.Element(
        "testsuite",
        name=f"kill matrix ({report['provider']})",
        tests=str(len(report["cells"]) + 1),
        failures=str(len(report["problems"])),
        time=str(report["seconds"]),
        timestamp=report["ran_at"],
    )
    for cell in report["cells"]:
        name = f"{cell['cell']} {cell['title']}"
        case = ET.SubElement(suite, "testcase", classname=cell["class"], name=name)
        if cell["faults"]:
            failure = ET.SubElement(case, "failure", message="; ".join(cell["faults"]))
            failure.text = json.dumps(cell, indent=1)
    whole = ET.SubElement(suite, "testcase", classname="matrix", name="every cell was run")
    for problem in report["problems"]:
        if not problem.startswith("cell "):
            ET.SubElement(whole, "failure", message=problem)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def page(report: Mapping[str, Any]) -> str:
    """Return the report as a page that needs nothing else."""
    rows = "".join(
        f"<tr{' class="red"' if cell['faults'] else ''}>"
        + "".join(f"<td>{escape(word)}</td>" for word in row(cell))
        + "</tr>"
        for cell in report["cells"]
    )
    return PAGE.format(
        verdict="as expected" if report["ok"] else "RED",
        sentence=escape(sentence(report)),
        head="".join(f"<th>{escape(name)}</th>" for name in COLUMNS),
        rows=rows,
    )


def write(report: Mapping[str, Any], folder: Path) -> None:
    """Write all forms; the JSON last, because it is what the console reads."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "junit.xml").write_text(junit(report))
    (folder / "last.html").write_text(page(report))
    fresh = folder / "last.json.new"
    fresh.write_text(json.dumps(report, indent=1))
    fresh.replace(folder / "last.json")
