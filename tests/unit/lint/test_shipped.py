"""What this project ships passes its own lint."""

from pathlib import Path

from sweeper.n8n.lint.run import lint

SHIPPED = Path(__file__).resolve().parents[3] / "templates" / "n8n"


def test_no_shipped_workflow_has_a_finding() -> None:
    """Read together, as they are imported together; nothing is allowed by a note either."""
    texts = {path.name: path.read_text() for path in SHIPPED.rglob("*.json")}
    found = [each for file in lint(texts) for each in file.findings]
    assert found == []
