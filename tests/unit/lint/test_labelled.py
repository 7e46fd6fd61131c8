"""Every rule finds what it is for, and nothing else is found: the labelled workflows."""

import json
import sys
import time
from typing import Any

import pytest

from sweeper.n8n.lint.findings import Rule
from sweeper.n8n.lint.known import Known
from sweeper.n8n.lint.rules import all_rules
from sweeper.n8n.lint.run import lint
from tests.support.lint import LABELS, Label

RULES = [rule for rule, _ in all_rules()]


def codes(flow: Any, known: Known) -> set[str]:
    """Return the codes of every finding in a workflow, written to text and read again."""
    return {f.code for file in lint({"flow.json": json.dumps(flow)}, known) for f in file.findings}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_its_bad_example_and_is_silent_about_the_good_one(rule: Rule) -> None:
    """The good example is good to every rule; the bad one breaks what it says it breaks."""
    assert codes(rule.bad, rule.known) == {rule.code} | rule.also
    assert codes(rule.good, rule.known) == set()


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label.name)
def test_a_labelled_workflow_gives_its_findings_and_no_other(label: Label) -> None:
    """Exactly the labelled codes come back."""
    assert codes(label.flow, label.known) == label.codes


def test_the_labelled_set_is_large_enough_and_has_both_kinds_for_each_rule() -> None:
    """A pair for each rule by its own examples, and some hundred workflows in all."""
    assert len(LABELS) + 2 * len(RULES) >= 150
    assert sum(not label.codes for label in LABELS) >= 40
    assert len({label.name for label in LABELS}) == len(LABELS)


def test_a_file_is_read_in_far_less_than_a_tenth_of_a_second() -> None:
    """Printed, not asserted: the machine may be busy with other tests."""
    texts = [json.dumps(label.flow) for label in LABELS]
    began = time.perf_counter()
    for text in texts:
        lint({"flow.json": text})
    each = (time.perf_counter() - began) / len(texts) * 1000
    sys.stdout.write(f"{each:.1f} ms a file on average\n")


def test_codes_and_names_are_unique_and_say_which_file_they_are() -> None:
    """A code is never two rules."""
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)
