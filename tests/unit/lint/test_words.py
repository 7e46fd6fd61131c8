"""The words of the lint are those of the ledger and of the documents."""

import re
from pathlib import Path

import pytest

from ledger.catalog import OPERATIONS
from sweeper.n8n.lint import doors, js, manual, runs, sql, values
from sweeper.n8n.lint.example import by_http, by_sql, step
from sweeper.n8n.lint.model import Node
from sweeper.n8n.lint.rules import all_rules

ROOT = Path(__file__).resolve().parents[3]


def node(made: dict) -> Node:
    """Return an example's node as the lint sees it."""
    return Node(made["name"], made["type"], float(made["typeVersion"]), made["parameters"])


def columns(operation: str) -> set[str]:
    """Return the columns of an operation's answer, from its function."""
    text = (ROOT / "ledger" / "sql" / "functions" / f"{operation}.sql").read_text()
    return set(
        re.findall(
            r"(\w+) [\w.\[\]]+",
            re.search(r"RETURNS TABLE \((.*?)\n?\)\s*\n?LANGUAGE", text, re.DOTALL)[1],
        )
    )


@pytest.mark.parametrize("operation", sorted(doors.GIVES))
def test_what_a_call_gives_is_in_its_answer(operation: str) -> None:
    """A column the lint counts on exists."""
    assert doors.GIVES[operation] <= columns(operation)


def test_every_operation_is_known_by_both_doors() -> None:
    """The path and the function of each operation n8n may call lead to its name."""
    for name, operation in OPERATIONS.items():
        if not operation.n8n or operation.http is None:
            continue
        method, path = operation.http
        path = re.sub(r"\{\w+\}", "{{ $json.id }}", path)
        assert doors.call(node(by_sql("A", name, "$json"))).operation == name
        assert doors.call(node(by_http("A", method, path, "={{ $json }}"))).operation == name
        joined = (
            "={{ $env.LANDED + '/api/v1"
            + path.replace("{{ $json.id }}", "' + $json.id + '")
            + "' }}"
        )
        assert (
            doors.call(
                node(
                    step(
                        "httpRequest",
                        "A",
                        version=4,
                        method=method,
                        url=joined,
                        jsonBody="={{ $json }}",
                    )
                )
            ).operation
            == name
        )


def test_groups_of_operations_are_operations() -> None:
    """A misspelt name would guard nothing."""
    for group in (doors.CLAIMS, doors.READS, doors.RECORDS, doors.ENDS, doors.GIVES, doors.NEEDS):
        assert set(group) <= set(OPERATIONS)


def test_the_page_of_rules_is_what_the_rules_say() -> None:
    """`manage.py lint_rules` writes it."""
    assert (ROOT / "docs" / "lint_rules.md").read_text() == manual.page()


def test_every_rule_file_opens_with_its_code() -> None:
    """One grep finds the file of a code."""
    for path in (ROOT / "sweeper" / "n8n" / "lint" / "rules").glob("[a-z]*.py"):
        code = re.match(r'"""(LW\d{3}): ', path.read_text())
        assert code, path.name
    assert len(all_rules()) == len(list((ROOT / "sweeper/n8n/lint/rules").glob("[a-z]*.py")))


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("$execution.id", "$execution.id"),
        ("'k' + Date.now()", "Date.now"),
        ("`x-${Math.random()}`", "Math.random"),
        ("$json.id || uuidv4()", "uuidv4()"),
        ("new Date().toISOString()", "new Date()"),
        ("crypto.randomUUID()", "crypto.randomUUID()"),
        ("DateTime.now().toMillis()", "DateTime.now"),
        ("$json.id", None),
        ("new Date($json.at).getTime()", None),
        ("uuidv5($json.id, NS)", None),
        ("crypto.createHash('sha256').update($json.id).digest('hex')", None),
    ],
)
def test_what_depends_on_the_run(code: str, source: str | None) -> None:
    """A value of the run is named; a value of the event is not."""
    assert runs.identity(code) == source


@pytest.mark.parametrize(
    ("code", "node", "path"),
    [
        ("$json.body.id", None, ("body", "id")),
        ("$json['a b']", None, ("a b",)),
        ("$('Claim').item.json.owner_token", "Claim", ("owner_token",)),
        ("$('Claim').first().json.a", "Claim", ("a",)),
        ('$node["Claim"].json.a', "Claim", ("a",)),
        ("$input.first().json.a", None, ("a",)),
        ("items[0].json.a", None, ("a",)),
        ("$json.a?.b", None, ("a", "b")),
    ],
)
def test_what_an_expression_reads(code: str, node: str | None, path: tuple[str, ...]) -> None:
    """Every spelling of n8n leads to a node and a path."""
    assert js.references(code) == (js.Reference(node, path),)


def test_an_argument_is_read_in_every_form() -> None:
    """JSON with braces, a JavaScript object, rows."""
    wanted = values.Literal("receipt")
    for text in (
        '={ "effect": "receipt", "event": {{ $json.body }} }',
        "={{ { effect: 'receipt' } }}",
        "={{ JSON.stringify({ effect: 'receipt', ...$json }) }}",
    ):
        assert values.member(values.of_text(text), "effect") == wanted
    quoted = values.of_text('={ "event": { "id": "{{ $json["a"] }}" } }')
    assert values.codes(quoted) == ['$json["a"]']


def test_queries_are_read_with_braces_and_parameters_in_place() -> None:
    """$1,$2 without a blank is no quoted text; braces are a name."""
    read = sql.read("INSERT INTO {{ $json.t }} (a,b) VALUES ($1,$2) ON CONFLICT (a) DO NOTHING")
    assert (read.unread, read.statements[0].conflict) == ("", "nothing")
    assert read.parameters == {1: frozenset({"a"}), 2: frozenset({"b"})}
    assert sql.read("SELECT * FROM ledger.claim_job($1) WHERE outcome IN ('won')").accepted == {
        "won"
    }
    assert (
        sql.read("SELECT * FROM ledger.claim_job($1) WHERE outcome = 'won' OR true").accepted
        is None
    )
    assert sql.read("-- ledger.claim_job(\nSELECT 1").calls == ()
