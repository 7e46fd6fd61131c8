"""The evidence of an uncertain send: every send of it, in order, each with what was said of it."""

import re

from django.test import Client

from ledger.models import AuditEvent, Conflict, Job
from review.items.sends import known_by
from review.queue import item_url
from sweeper import sweep
from tests.support import losses
from tests.support.lab import Claim, Lab


def lose(lab: Lab, claim: Claim) -> int:
    """Mark a send and lose it on its way; look for it until a person is asked."""
    lab.mark(claim)
    for _ in range(2):
        lab.expire(claim)
        sweep.run_once()
        lab.owner.execute("UPDATE jobs SET settle_until = now() - interval '1 hour'")
    return Conflict.objects.get(job_id=claim.job_id, state="open").id


def resend(lab: Lab, client: Client, number: int) -> Claim:
    """Resend it in the console, and let its worker take it after the undo time."""
    lock = Conflict.objects.get(pk=number).lock_version
    form = {"decision": "resend", "lock_version": lock, "reason": "it is wanted"}
    path = f"{item_url('conflict', number)}resend/"
    assert "Queued to be sent again" in client.post(path, form | {"risk_acknowledged": "yes"}).text
    lab.owner.execute("UPDATE jobs SET run_after = now(), ready_at = now() WHERE state = 'queued'")
    claim = lab.claim_next()
    assert claim is not None
    return claim


def groups(client: Client, number: int) -> list[str]:
    """Return the text of each send's part of the evidence."""
    page = client.get(item_url("conflict", number)).text
    (table,) = re.findall(r'<table class="evidence">(.*?)</table>', page, re.DOTALL)
    parts = re.findall(r"<tbody>(.*?)</tbody>", table, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", part).split()) for part in parts]


def test_every_send_stands_with_its_own_evidence_in_order(lab, olga):
    """Three sends of one mail: the marks of all, and each look-up under the send it was for."""
    claim = lab.claim("mail")
    number = lose(lab, claim)
    for _ in range(2):
        number = lose(lab, resend(lab, olga, number))
    first, second, third = groups(olga, number)
    job = Job.objects.get(pk=claim.job_id)
    marks = AuditEvent.objects.filter(op="mark_sending").order_by("at")
    for place, (said, mark) in enumerate(zip((first, second, third), marks, strict=True), 1):
        assert said.startswith(f"Send no. {place} · marked {mark.at:%H:%M:%S}")
        assert "mail has nothing under that handle" in said
    assert "the latest" in third
    assert f"under the handle &lt;{job.handle.strip('<>')}&gt;" in third
    assert "the latest" not in first + second


def test_what_is_said_late_of_an_earlier_send_stands_under_it(lab, olga):
    """The second send has nothing yet; what came of the first is not mixed into it."""
    claim = lab.claim("hook")
    number = lose(lab, resend(lab, olga, lose(lab, claim)))
    lab.owner.execute(
        "INSERT INTO evidence (job_id, send_no, kind, source, provider_ref)"
        " VALUES (%s, 1, 'late_receipt', 'workflow:shop', 'm-1'),"
        " (%s, 0, 'late_result', 'workflow:shop', NULL)",
        [claim.job_id, claim.job_id],
    )
    unknown, first, second = groups(olga, number)
    assert unknown.startswith("Of no known send")
    assert "late result" in unknown
    assert "m-1" in first
    assert "Nobody outside has said anything of it." in second


def test_a_person_s_statement_stands_under_their_name(lab, olga):
    """Whoever reads the evidence later knows whom to ask."""
    number = losses.unknown_send(lab)
    lock = Conflict.objects.get(pk=number).lock_version
    form = {"decision": "landed", "lock_version": lock, "reason": "the log has it"}
    olga.post(f"{item_url('conflict', number)}resolve/", form)
    (only,) = groups(olga, number)
    assert "olga stated what they know" in only


def test_a_send_marked_by_a_raw_statement_has_its_time_too(lab, olga):
    """There is no audit row of mark_sending; the job itself remembers its marker."""
    number = losses.unknown_send(lab)
    lab.owner.execute("ALTER TABLE audit_events DISABLE TRIGGER USER")
    lab.owner.execute("DELETE FROM audit_events WHERE op = 'mark_sending'")
    lab.owner.execute("ALTER TABLE audit_events ENABLE TRIGGER USER")
    job = Job.objects.get()
    (only,) = groups(olga, number)
    assert job.marker_at is not None
    assert only.startswith(f"Send no. 1 · marked {job.marker_at:%H:%M:%S} · under the key")
    assert known_by(job, None) == ("key", job.provider_key)


def verdict(client: Client, number: int) -> str:
    """Return what the page's headline says."""
    page = client.get(item_url("conflict", number)).text
    (said,) = re.findall(r'<p class="big">(.*?)</p>', page)
    return str(said)


def test_the_headline_follows_what_is_known_by_now(lab, olga):
    """Never marked at first; then resent, sent, lost, and resent again without a mark."""
    claim = lab.claim("hook")
    lab.expire(claim)
    sweep.run_once()
    first = Conflict.objects.get(job_id=claim.job_id, state="open").id
    assert verdict(olga, first) == "Cannot tell: the send was never marked."
    second = lose(lab, resend(lab, olga, first))
    for number in (first, second):
        assert verdict(olga, number) == "Cannot tell. This provider cannot be asked."
    again = resend(lab, olga, second)
    assert "a worker took it again" in verdict(olga, first)
    lab.expire(again)
    sweep.run_once()
    for number in (first, second):
        said = verdict(olga, number)
        assert said == "Cannot tell: the try after send no. 1 was never marked."
        assert groups(olga, number)[0].startswith("Send no. 1 · marked")
