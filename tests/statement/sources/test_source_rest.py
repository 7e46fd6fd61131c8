"""The sources' dead letters, batches and versioned writes."""

from tests.support import sources
from tests.support.factories import (
    BLIND,
    Shop,
    buried,
    completed,
    in_review,
    insert,
    marked,
)
from tests.support.letters import letter_of
from tests.support.races import race
from tests.support.sources import Articles, Told

KEY = "evt_1"


def test_a_failure_is_recorded_and_waits_for_a_person(
    shop: Shop, articles: Articles, told: Told
) -> None:
    """It names no job, so only a person can act on it; it is listed for retry as in its source."""
    failure = ("intake", "o-1", '{"a": 1}', "it broke", "HTTP Request")
    assert articles.changed(sources.FAILED, *failure) == 1
    assert told() == [("sql:failed_jobs", "inserted", 1)]
    (letter,) = articles.run(sources.RETRY_LIST)
    assert (letter["workflow_name"], letter["item_key"], letter["payload"]) == (
        "intake",
        "o-1",
        {"a": 1},
    )
    assert (letter["error_message"], letter["error_node"], letter["retry_count"]) == (
        "it broke",
        "HTTP Request",
        0,
    )
    assert letter["waiting_since"] is not None


def test_a_large_failure_is_cut_and_kept_whole_beside_the_row(
    shop: Shop, articles: Articles
) -> None:
    """As through the operation."""
    articles.run(sources.FAILED, "intake", None, f'{{"text": "{"x" * 50_000}"}}', "e", "n")
    (letter,) = shop.rows("failed_jobs")
    assert (letter["payload"], letter["payload_truncated"]) == (None, True)
    (body,) = shop.rows("payload_bodies", sha256=letter["payload_sha256"])
    assert len(body["body"]) == letter["payload_size"] > 50_000


def test_what_is_closed_is_never_listed_for_retry(shop: Shop, articles: Articles) -> None:
    """Decided, landed, in review, or of a send that may not be repeated."""
    decisions = ("acknowledge", "abandon")
    for decision in decisions:
        articles.run(sources.FAILED, "intake", decision, "{}", "e", "n")
        letter = shop.rows("failed_jobs", item_key=decision)[0]
        shop.run(
            "decide_failed_job",
            failed_job_id=letter["id"],
            lock_version=1,
            decision=decision,
            reason="seen",
        )
    buried(shop, event="dead")
    for event, make in (("done", completed), ("asked", in_review), ("marked", marked)):
        job = make(shop, BLIND, event)
        shop.run("post_failed_job", job_id=job.job_id, payload={}, error_message="x")
        letter = letter_of(shop, job)
        if event != "marked":
            shop.run("retry_failed_job", failed_job_id=letter["id"])
    listed = {row["item_key"] for row in articles.run(sources.RETRY_LIST)}
    assert listed == {"acknowledge", "charge:dead"}


# -- batches -------------------------------------------------------------------------------------


def test_a_batch_is_begun_and_moves(shop: Shop, articles: Articles, told: Told) -> None:
    """With a lease that each move renews."""
    (begun,) = articles.run(sources.START_BATCH, "import")
    assert told() == [("sql:batch_runs", "inserted", 1)]
    shop.owner.execute("UPDATE batch_runs SET lease_expires_at = now() - interval '1 s'")
    shop.run("promote_conflicts")
    told()
    assert articles.changed(sources.ADVANCE, "100", 100, begun["id"]) == 1
    assert told() == [("sql:batch_runs", "won", 1)]
    (batch,) = shop.rows("batch_runs")
    assert (batch["last_cursor"], batch["items_processed"], batch["chunk_no"]) == ("100", 100, 1)
    assert (batch["guarded"], batch["waiting_since"]) == (False, None)
    assert batch["lease_expires_at"] > batch["heartbeat_at"]


def test_a_second_batch_is_allowed_while_the_first_lives(shop: Shop, articles: Articles) -> None:
    """Only start_batch is exclusive, and the two kinds do not hinder each other."""
    guarded = shop.run("start_batch")
    for _ in range(2):
        assert articles.run(sources.START_BATCH, "shop") != []
    assert shop.run("start_batch").outcome == "held_by_other"
    assert {row["status"] for row in shop.rows("batch_runs")} == {"running"}
    assert shop.row("batch_runs", guarded.batch_id)["guarded"]


def test_an_expired_batch_is_ended_by_the_next(shop: Shop, articles: Articles, told: Told) -> None:
    """Of the same workflow; nobody has to look at it, and it is on record."""
    (first,) = articles.run(sources.START_BATCH, "import")
    (other,) = articles.run(sources.START_BATCH, "export")
    shop.owner.execute("UPDATE batch_runs SET lease_expires_at = now() - interval '1 s'")
    told()
    articles.run(sources.START_BATCH, "import")
    assert told() == [("sql:batch_runs", "superseded", 1), ("sql:batch_runs", "inserted", 1)]
    ended = shop.row("batch_runs", first["id"])
    assert (ended["status"], ended["last_error"]) == ("failed", "superseded")
    assert shop.row("batch_runs", other["id"])["status"] == "running"
    shop.run("promote_conflicts")
    assert shop.row("batch_runs", first["id"])["waiting_since"] is None


def test_racing_moves_add_each(shop: Shop, crowd: list[Articles]) -> None:
    """The printed statement has no guard of its own: each of the four counts, as in its source."""
    (batch,) = crowd[0].run(sources.START_BATCH, "import")
    race(*[lambda a=a: a.changed(sources.ADVANCE, "1", 10, batch["id"]) for a in crowd])
    assert shop.row("batch_runs", batch["id"])["items_processed"] == 40


# -- versioned writes ----------------------------------------------------------------------------


def test_a_version_check_lets_one_of_two_writers_through(shop: Shop, crowd: list[Articles]) -> None:
    """The revision is the store's; the loser changes no row and leaves no conflict."""
    shop.owner.execute(
        "DROP TABLE IF EXISTS public.customers;"
        "CREATE TABLE public.customers (id bigint PRIMARY KEY, plan text, version bigint NOT NULL);"
        "CREATE TRIGGER a BEFORE INSERT OR UPDATE ON public.customers FOR EACH ROW"
        " EXECUTE FUNCTION ledger.bump_revision('customers', 'id', 'version');"
        "CREATE TRIGGER b AFTER INSERT OR UPDATE ON public.customers FOR EACH ROW"
        " EXECUTE FUNCTION ledger.bump_revision('customers', 'id', 'version');"
        "GRANT SELECT, UPDATE ON public.customers TO ledger_articles;"
        "INSERT INTO public.customers VALUES (7, 'basic', 1)"
    )
    insert(
        shop.owner,
        "targets",
        name="customers",
        table="public.customers",
        revision_column="version",
    )
    for revision in range(1, 11):
        changed = race(
            *[
                lambda a=a, r=revision: a.changed(sources.CHANGE_PLAN, f"pro {id(a)}", 7, r)
                for a in crowd[:2]
            ]
        )
        assert sorted(changed) == [0, 1]
    (row,) = shop.rows("customers")
    assert (row["version"], shop.rows("conflicts")) == (11, [])
    history = shop.rows("record_history", target="customers")
    assert sorted(h["revision"] for h in history) == list(range(1, 12))
    shop.owner.execute("DROP TABLE public.customers")
