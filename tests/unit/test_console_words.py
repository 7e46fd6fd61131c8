"""What the console says: every outcome has a sentence, every kind a way out, no text lies."""

import re
from pathlib import Path

import pytest

from ledger.models.audit_events import ACTOR_KINDS
from ledger.models.conflicts import KINDS as LEDGER_KINDS
from review import text
from review.decisions import VERB_RIGHTS
from review.items import other
from review.items.standing import OPERATIONS
from review.outcomes import GOOD, OUTCOMES, UNKNOWN, words
from review.reasons import REASONS, in_words
from review.rights import RIGHT_WORDS, ROLE_WORDS, ROLES
from review.sources import SOURCES
from review.verbs import KINDS, SECOND_PERSON, WITHDRAW, decisions_of, find_decision
from review.views.outcome import OPEN_WORDS
from review.won import WON
from sweeper.decisions.sweep import TABLE

SQL = Path(__file__).parents[2] / "ledger" / "sql"


def ledger_outcomes():
    """Read the closed list of outcomes where the database gets it from."""
    (listed,) = re.findall(
        r"CREATE DOMAIN ledger\.outcome.*?CHECK \(VALUE IN \((.*?)\)\)",
        (SQL / "foundation.sql").read_text(),
        re.DOTALL,
    )
    return set(re.findall(r"'(\w+)'", listed))


def test_every_outcome_has_a_sentence_and_a_next_step():
    """The table covers the closed list, no more and no less."""
    assert set(OUTCOMES) == ledger_outcomes()
    for said in OUTCOMES.values():
        assert said.title
        assert said.sentence.endswith(".")
        assert said.next.endswith(".")


def test_only_good_outcomes_have_the_good_tone():
    """A loss never looks like success, and an unknown word neither."""
    good = {outcome for outcome, said in OUTCOMES.items() if said.tone == GOOD}
    assert good == {"won", "inserted", "matched", "replay", "empty"}
    assert words("a new word") is UNKNOWN
    assert UNKNOWN.tone != GOOD
    assert [outcome for outcome, said in OUTCOMES.items() if said.title == "Done"] == ["won"]


def test_every_kind_has_a_verb_that_ends_it_and_no_decision_the_ledger_lacks():
    """The console's table and the ledger's table of decisions hold the same decisions."""
    assert set(KINDS) == LEDGER_KINDS
    for kind in KINDS.values():
        assert [each for each in kind.decisions if each.decision != "look_again"]
        assert len({each.key for each in kind.decisions if each.key}) == len(
            [each for each in kind.decisions if each.key]
        )


def test_every_source_of_the_queue_has_a_page():
    """What the view can list, the console can name and open."""
    view = (SQL / "views" / "review_queue.sql").read_text()
    sources = set(re.findall(r"SELECT '(\w+)'::text", view))
    assert sources == {"conflict", *SOURCES}
    assert set(other.MODELS) == {*SOURCES, "archived"}  # which nobody waits for


def test_every_source_has_a_decision_that_ends_it_and_none_the_ledger_lacks():
    """The console's table and the operations hold the same decisions; a key has none of its own."""
    for source, kind in SOURCES.items():
        if source == "key":
            assert kind.decisions == ()
            continue
        function = SQL / "functions" / f"{OPERATIONS[source]}.sql"
        (listed,) = re.findall(r'"decision": "enum:([\w|]+)!"', function.read_text())
        deciding = {each.decision for each in decisions_of(source) if not each.only_asks}
        # The ledger knows one's own proposal taken back as a rejection.
        assert deciding - {"take_back"} == set(listed.split("|"))
        for each in kind.decisions:
            assert find_decision(source, each.verb, each.decision) is each
            assert sentence_of(each.decision)


def sentence_of(decision):
    """Return what a page says when a decision won."""
    return WON.get(decision) or OPEN_WORDS[decision].text


def test_every_verb_has_a_right_that_some_role_has_and_words_for_who_lacks_it():
    """A viewer may no verb; an approver may every verb."""
    decisions = [each for kind in (*KINDS.values(), *SOURCES.values()) for each in kind.decisions]
    for decision in (*decisions, *SECOND_PERSON, WITHDRAW):
        right = VERB_RIGHTS[decision.verb]
        assert right in ROLES["approver"]
        assert right not in ROLES["viewer"]
        assert RIGHT_WORDS[right]
    assert set(ROLE_WORDS) == set(ROLES)
    assert ROLES["viewer"] < ROLES["operator"] < ROLES["approver"] < ROLES["administrator"]


def test_every_reason_of_the_sweep_has_words():
    """No code word of the decision table reaches a person."""
    assert {rule.reason for rule in TABLE} <= set(REASONS)
    assert in_words("a person's own words") == "a person's own words"


@pytest.mark.parametrize(
    ("stored", "seen"),
    [
        ("abc\u202eevil", "abc⟨U+202E⟩evil"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\x00b\x07", "a⟨U+0000⟩b⟨U+0007⟩"),
        ("tab\tline\n", "tab\tline\n"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("Grüße, 你好 🙂", "Grüße, 你好 🙂"),
    ],
)
def test_hidden_characters_are_made_visible(stored, seen):
    """Nothing a reader cannot see changes what they read."""
    assert text.visible(stored) == seen


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s"),
        (12, "12 s"),
        (61, "1 min"),
        (3600, "1 h"),
        (11_520, "3 h 12 min"),
        (187_200, "2 d 4 h"),
    ],
)
def test_ages_are_said_in_two_units(seconds, said):
    """Ages, not dates."""
    assert text.age(seconds) == said


def test_lists_and_counts_read_like_sentences():
    """Counts say their noun and where counting stopped."""
    assert text.listed(["a"]) == "a"
    assert text.listed(["a", "b", "c"]) == "a, b and c"
    assert text.listed(list("abcdef"), most=2) == "a, b and 4 more"
    assert text.counted(1, "thing") == "1 thing"
    assert text.counted(1000, "thing", capped=True) == "1,000+ things"
    assert [text.ordinal(n) for n in (1, 3, 4, 11, 21, 22)] == [
        "first",
        "third",
        "4th",
        "11th",
        "21st",
        "22nd",
    ]


@pytest.mark.parametrize(
    ("stored", "named"),
    [
        ("(native)", "the native worker"),
        ("(sql)", "a raw SQL statement"),
        ("(direct SQL)", "a raw SQL statement"),
        ("(shipped)", "shipped with Landed"),
        ("login ana", "a direct database login (ana)"),
        ("role:landed_app", "the database role landed_app"),
        ("command:root", "the command line (root)"),
        ("human:ana", "ana"),
        ("workflow:billing", "billing"),
        ("workflow:(native)", "the native worker"),
        ("sweeper", "the sweeper"),
        ("reconciler", "the reconciler"),
        ("system", "the ledger"),
        ("billing", "billing"),
        (None, ""),
    ],
)
def test_who_acted_is_named_in_plain_words(stored, named):
    """No code word of the ledger stands where a person's or workflow's name belongs."""
    assert text.actor(stored) == named


@pytest.mark.parametrize(
    ("stored", "kind", "named"),
    [
        ("vm:9958", "sweeper", "the sweeper (vm:9958)"),
        ("sweeper", "sweeper", "the sweeper"),
        ("", "system", "the ledger"),
        ("(native)", "workflow", "the native worker"),
        ("sweeper", "workflow", "sweeper"),
        ("(sql)", "human", "(sql)"),
        ("a\u202eb", "human", "a⟨U+202E⟩b"),
        ("command:root", "command", "the command line (root)"),
    ],
)
def test_what_sort_of_actor_it_was_decides_how_it_is_named(stored, kind, named):
    """A workflow may be called sweeper; a process is named as what it is."""
    assert text.actor(stored, kind=kind) == named


def test_every_kind_of_actor_of_the_ledger_is_known():
    """A new kind that acts without a name needs its words."""
    assert set(text.MACHINES) < ACTOR_KINDS
    assert ACTOR_KINDS - set(text.MACHINES) == {"workflow", "human", "command"}
