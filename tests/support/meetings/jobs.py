"""Two calls that meet at one job or one key: claims, entries, results."""

from tests.support import factories, retention
from tests.support.factories import SWEEPER, order
from tests.support.lost import World
from tests.support.lost.cases import workflow
from tests.support.meetings.cases import Call, hears


@hears("result_mismatch")
def another_result_behind_the_first(world: World) -> tuple[Call, Call]:
    """Be compared with the result that is there by then."""
    mine = workflow(**factories.marked(world.shop).mine)
    return ("complete_job", mine | {"result": 1}), ("complete_job", mine | {"result": 2})


@hears("held_by_other")
def a_reclaim_behind_a_heartbeat(world: World) -> tuple[Call, Call]:
    """Find that the lease has begun again."""
    job = factories.claimed(world.shop)
    factories.expire(world.shop, job)
    return ("heartbeat_job", workflow(**job.mine)), ("claim_job", workflow(**order()))


@hears("replay")
def a_claim_behind_the_result(world: World) -> tuple[Call, Call]:
    """Hear the stored result."""
    mine = workflow(**factories.marked(world.shop).mine)
    return ("complete_job", mine | {"result": 1}), ("claim_job", workflow(**order()))


@hears("replay")
def an_entry_behind_the_result(world: World) -> tuple[Call, Call]:
    """Hear the stored result."""
    mine = workflow(**factories.marked(world.shop).mine)
    return ("complete_job", mine | {"result": 1}), ("enqueue_job", workflow(**order()))


@hears("held_by_other")
def a_claim_behind_the_first_claim(world: World) -> tuple[Call, Call]:
    """Find the key taken: its insert is the claim."""
    return ("claim_job", workflow(**order())), ("claim_job", workflow(**order()))


@hears("replay")
def a_claim_behind_the_archiver(world: World) -> tuple[Call, Call]:
    """Be answered from the archive: the key left the live table meanwhile."""
    factories.completed(world.shop)
    retention.grow_old(world.shop)
    return ("archive_keys", {"actor": SWEEPER}), ("claim_job", workflow(**order()))
