"""Did it land? Three verdicts, from evidence alone."""

from datetime import UTC, datetime, timedelta

import pytest

from review.verdict import Landed, Piece, Send, judge

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def send(**changes):
    """Make a marked first send to a mail server."""
    facts = {
        "provider": "smtp",
        "provider_class": "advisory_handle",
        "send_no": 1,
        "marked_at": NOW - timedelta(minutes=30),
        "settle_until": NOW - timedelta(minutes=5),
        "dominated": False,
    }
    return Send(**{**facts, **changes})


def piece(kind, send_no=1, ref=None):
    """Make one piece of evidence, a minute old."""
    return Piece(kind, send_no, "IMAP", ref, NOW - timedelta(minutes=1))


@pytest.mark.parametrize("kind", ["lookup_found", "receipt", "late_receipt"])
def test_positive_evidence_of_this_send_says_landed(kind):
    """Whoever brought it: what the provider has, landed."""
    verdict = judge(send(), [piece("lookup_absent"), piece(kind, ref="m-1")], NOW)
    assert verdict.landed is Landed.YES
    assert "m-1" in verdict.because


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        [piece("lookup_absent")],
        [piece("lookup_error")],
        [piece("late_result")],
        [piece("error_replayed")],
        [piece("human_statement")],
        [piece("relay_log")],
    ],
)
def test_anything_else_cannot_tell(evidence):
    """Not found is not the same as not sent, and an error is neither."""
    assert judge(send(), evidence, NOW).landed is Landed.UNKNOWN


def test_an_earlier_send_is_said_but_proves_nothing_of_this_one():
    """A receipt of send 1 does not close send 2."""
    verdict = judge(send(send_no=2), [piece("receipt", send_no=1)], NOW)
    assert verdict.landed is Landed.UNKNOWN
    assert "An earlier send (no. 1) did land." in verdict.because


def test_the_headline_counts_what_was_asked_and_the_window():
    """Look-ups, failures and the settle window are in the headline."""
    evidence = [piece("lookup_absent"), piece("lookup_absent"), piece("lookup_error")]
    over = judge(send(), evidence, NOW).headline
    assert over == "Cannot tell. 2 look-ups, all absent, 1 look-up failed, settle window over."
    left = judge(send(settle_until=NOW + timedelta(minutes=7)), evidence[:1], NOW).headline
    assert left == "Cannot tell. 1 look-up, absent, settle window ends in 7 min."
    blind = judge(send(provider_class="advisory_blind", settle_until=None), [], NOW).headline
    assert blind == "Cannot tell. This provider cannot be asked."


def test_never_marked_is_not_landed_only_where_every_send_stands_behind_the_mark():
    """Without that proof the worker may have sent without marking."""
    assert judge(send(marked_at=None, send_no=0, dominated=True), [], NOW).landed is Landed.NO
    never = judge(send(marked_at=None, send_no=0), [], NOW)
    assert (never.landed, "never marked" in never.headline) == (Landed.UNKNOWN, True)


@pytest.mark.parametrize(
    ("changes", "headline", "because"),
    [
        ({"state": "queued", "send_no": 0}, "it waits to be sent again", "No send was marked"),
        ({"state": "queued"}, "it waits to be sent again", "Send no. 1 was marked before."),
        ({"state": "claimed"}, "has not marked it", "Send no. 1 was marked before."),
        ({"state": "sweeping", "send_no": 2}, "looked for now", "Sends no. 1 to 2 were marked"),
        ({"send_no": 2}, "the try after send no. 2 was never marked", "Sends no. 1 to 2 were"),
        ({"dominated": True}, "the try after send no. 1 was never marked", "Nobody knows whether"),
    ],
)
def test_an_unmarked_try_does_not_hide_the_sends_before_it(changes, headline, because):
    """A person's resend forgets the mark; that an earlier send was marked stays a fact."""
    verdict = judge(send(**{"marked_at": None, **changes}), [], NOW)
    assert verdict.landed is Landed.UNKNOWN
    assert headline in verdict.headline
    assert because in verdict.because


def test_a_send_under_way_has_no_outcome_yet():
    """Its number is said, and what landed before it; no look-up of an earlier one decides."""
    evidence = [piece("receipt", send_no=1)]
    verdict = judge(send(send_no=2, state="claimed"), evidence, NOW)
    assert verdict.headline == "Cannot tell yet: send no. 2 is under way."
    assert "An earlier send (no. 1) did land." in verdict.because


def test_a_repeat_that_is_refused_is_said_to_be_safe():
    """Where no attempt is left that comes first; a key that may be forgotten is not safe."""
    charge = {"provider": "pay", "provider_class": "forced_unique", "settle_until": None}
    safe = "pay refuses a repeat of the same key, so a resend is safe"
    spent = judge(send(**charge, refuses=True, spent=True), [], NOW).because
    assert f"No attempt is left, so it is not sent again by itself. {safe}" in spent
    left = judge(send(**charge, refuses=True), [], NOW).because
    assert safe in left
    assert "No attempt is left" not in left
    forgotten = judge(send(**charge), [], NOW).because
    assert "may have forgotten the key" in forgotten
    assert "safe" not in forgotten
