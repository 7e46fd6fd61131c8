"""purge_archive: a key is forgotten only where a person signed it, and never before its job."""

from typing import Any

from tests.support.conflicts import decide_open
from tests.support.factories import FORCED, HANDLE, Shop, order
from tests.support.letters import of_an_event
from tests.support.races import race
from tests.support.retention import archived, grow_old, let_jobs_grow_old, sign


def _purge(shop: Shop, **more: Any) -> Any:
    """Run one pass and see that every key it forgot left one audit row."""
    shop.audit.skip()
    answer = shop.run("purge_archive", **more)
    assert [row["op"] for row in shop.audit.new()] == ["purge_archive"] * answer.n
    return answer


def _without_job(shop: Shop, effect: str = FORCED, event: Any = 1) -> None:
    archived(shop, effect, event)
    let_jobs_grow_old(shop)
    assert shop.run("purge_jobs").outcome == "won"


def test_without_a_signature_nothing_is_forgotten(shop: Shop) -> None:
    """However old it is."""
    _without_job(shop)
    shop.owner.execute(
        "UPDATE idem_archive SET last_possible_retry_at = last_possible_retry_at"
        " - interval '20 years'"
    )
    assert (_purge(shop).outcome, len(shop.rows("idem_archive"))) == ("empty", 1)


def test_a_signed_expiry_is_counted_from_the_last_possible_retry(shop: Shop) -> None:
    """Not before; and of this provider only."""
    _without_job(shop, FORCED)
    _without_job(shop, HANDLE)
    sign(shop, days=100)
    assert _purge(shop).outcome == "empty"
    sign(shop, days=80)
    forgotten = _purge(shop)
    assert (forgotten.outcome, forgotten.n) == ("won", 1)
    (left,) = shop.rows("idem_archive")
    assert left["effect"] == HANDLE
    assert shop.claim().outcome == "won"


def test_each_providers_own_signature_counts(shop: Shop) -> None:
    """That another's keys are forgotten earlier is no reason."""
    _without_job(shop, FORCED)
    _without_job(shop, HANDLE)
    sign(shop, FORCED, days=80)
    sign(shop, HANDLE, days=100)
    assert _purge(shop).n == 1
    (left,) = shop.rows("idem_archive")
    assert left["effect"] == HANDLE


def test_a_key_outlives_its_job(sql_shop: Shop) -> None:
    """A job without its key could be made a second time."""
    shop = sql_shop
    archived(shop)
    sign(shop)
    assert (_purge(shop).outcome, len(shop.rows("jobs"))) == ("empty", 1)
    let_jobs_grow_old(shop)
    assert shop.run("purge_jobs").n == 1
    assert _purge(shop).n == 1


def test_a_key_whose_event_has_a_dead_letter_stays(sql_shop: Shop) -> None:
    """Or the letter's retry would do again what was done."""
    shop = sql_shop
    _without_job(shop)
    sign(shop)
    letter = of_an_event(shop)
    assert _purge(shop).outcome == "empty"
    tried = shop.run("retry_failed_job", failed_job_id=letter["id"])
    assert (tried.outcome, shop.rows("jobs")) == ("already_decided", [])
    assert _purge(shop).n == 1


def test_a_key_somebody_is_asked_about_stays(sql_shop: Shop) -> None:
    """A late replay brought another payload."""
    shop = sql_shop
    _without_job(shop)
    sign(shop)
    shop.run("claim_job", **order() | {"payload": {"amount": 41}})
    assert _purge(shop).outcome == "empty"
    decide_open(shop, "keep")
    assert _purge(shop).n == 1


def test_only_as_many_as_asked(sql_shop: Shop) -> None:
    """The next pass goes on."""
    shop = sql_shop
    for n in range(3):
        _without_job(shop, event=n)
        grow_old(shop)
    sign(shop)
    assert [_purge(shop, limit=2).n for _ in range(3)] == [2, 1, 0]


def test_a_late_replay_and_the_end_of_its_key_exclude_each_other(racing_shop: Shop) -> None:
    """Either it hears the stored answer or it is an event nobody knows; the key goes once."""
    shop = racing_shop
    _without_job(shop)
    sign(shop)
    purge = [lambda: shop.run("purge_archive")] * 2
    *passes, late = race(*purge, lambda: shop.run("claim_job", **order()))
    assert sum(each.n for each in passes) == len(shop.rows("audit_events", op="purge_archive")) == 1
    assert late.outcome in {"replay", "won"}
    assert shop.rows("idem_archive") == []
    assert len(shop.rows("idem")) == (late.outcome == "won")
