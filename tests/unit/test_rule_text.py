"""Reading a rule's file: where a statement ends, how strongly it locks, what its head says."""

import pytest

from ledger.rules.text import RuleError, Strength, read, statements

HEAD = "-- Why this rule: orders need seats.\n-- rule: r\n-- target: t\n"
CHECK = "-- check\nSELECT true, '{}'::jsonb\n"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" ;; -- nothing ;\n /* ; */ ", []),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \";\", $$;$$, $a$ ; $$ ; $a$;", ["SELECT ';', \";\", $$;$$, $a$ ; $$ ; $a$"]),
        ("SELECT 'it''s;' -- ;\n, $1 /* ;\n */;", ["SELECT 'it''s;' -- ;\n, $1 /* ;\n */"]),
    ],
)
def test_a_statement_ends_at_its_own_semicolon(text: str, pieces: list[str]) -> None:
    """Not at one inside quotes or comments."""
    assert statements(text) == pieces


@pytest.mark.parametrize(
    ("clause", "strength"),
    [
        ("FOR UPDATE", Strength.UPDATE),
        ("for\n update of t", Strength.UPDATE),
        ("FOR NO KEY UPDATE", Strength.SHARE),
        ("FOR SHARE", Strength.SHARE),
        ("FOR UPDATE OF t FOR SHARE OF u", Strength.SHARE),
        ("FOR SHARE -- FOR UPDATE", Strength.SHARE),
    ],
)
def test_a_lock_is_as_strong_as_its_weakest_clause(clause: str, strength: Strength) -> None:
    """What stands in a comment is no clause."""
    rule = read(f"{HEAD}-- lock\nSELECT 'FOR UPDATE' FROM t {clause}\n{CHECK}")
    assert [lock.strength for lock in rule.locks] == [strength]


def test_the_head_and_the_parts() -> None:
    """Fields are a list, the lock part may be missing, the order of the parts is free."""
    rule = read(f"{HEAD}-- fields: a, b,\n{CHECK}-- Lock:\nSELECT FROM t FOR UPDATE;\n")
    assert (str(rule), rule.function, rule.fields) == ("t.r", "t__r", ("a", "b"))
    assert (len(rule.locks), rule.check) == (1, "SELECT true, '{}'::jsonb")
    assert read(HEAD + CHECK).locks == ()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (CHECK, "-- rule:"),
        ("-- rule: r\n" + CHECK, "-- target: is missing"),
        (HEAD, "must hold one query"),
        (HEAD + CHECK + CHECK, "stands twice"),
        (HEAD + "-- rule: s\n" + CHECK, "stands twice"),
        (HEAD + "SELECT 1;\n" + CHECK, "stands before"),
        (HEAD + "-- lock\nSELECT 1 'FOR UPDATE'\n" + CHECK, "a lock must be"),
    ],
)
def test_what_is_no_rule(source: str, said: str) -> None:
    """The message names the line or what is missing."""
    with pytest.raises(RuleError, match=said):
        read(source)
