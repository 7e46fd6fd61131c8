"""A person has a provider asked again about a job that waits for a decision."""

from ledger.models import Evidence
from sweeper.look_again import look_again_now
from tests.support.lab import Lab
from tests.support.sweeps import swept


def test_looking_again_adds_evidence_and_moves_nothing(lab: Lab) -> None:
    """The mail turns up after the job went to a person: the page shows it, the person decides."""
    lab.set_provider("mail", settle_seconds=0)
    lab.provider.effects.index_delay = 3_600
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    assert swept().review == 1
    lab.provider.effects.index_delay = 0
    before = lab.job(claim).version
    assert look_again_now(claim.job_id, "ada").outcome == "inserted"
    found = Evidence.objects.get(job_id=claim.job_id, kind="lookup_found")
    assert (found.source, found.provider_ref) == ("mail", "ma_1")
    assert (lab.job(claim).state, lab.job(claim).version) == ("review", before)


def test_looking_where_nobody_can_look_says_so(lab: Lab) -> None:
    """A blind provider, and a job that is not there."""
    claim = lab.claim("hook")
    look_again_now(claim.job_id, "ada")
    told = Evidence.objects.get(job_id=claim.job_id)
    assert (told.kind, "can ask" in str(told.body)) == ("lookup_error", True)
    assert look_again_now("nowhere", "ada").outcome == "lost_claim"
