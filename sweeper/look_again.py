"""A look-up now, because a person wants to see: it adds evidence and moves nothing."""

from ledger.models import Job, Provider
from ledger.operations.sweeps import LookedAgain, look_again
from sweeper.providers import base
from sweeper.providers.base import Found, Identity, LookUp, Unknown


def look_again_now(job_id: str, actor: str) -> LookedAgain:
    """Ask the job's provider within its driver's time limit, and keep what it said.

    A provider that cannot be asked, or does not answer, is evidence as well: ``lookup_error``
    with the reason.
    """
    job = Job.objects.filter(id=job_id).first()
    if job is None:
        return LookedAgain("lost_claim", None, None)
    answer = _ask(job)
    return look_again(
        actor=actor,
        job_id=job_id,
        kind=base.KINDS[type(answer)],
        source=job.provider,
        provider_ref=answer.provider_ref if isinstance(answer, Found) else None,
        body={"reason": base.words(answer)},
    )


def _ask(job: Job) -> LookUp:
    provider = Provider.objects.filter(name=job.provider).first()
    if provider is None:
        return Unknown(f"the provider {job.provider!r} is not registered")
    config = provider.lookup_config if isinstance(provider.lookup_config, dict) else {}
    identity = Identity(job.id, job.provider_key, job.handle)
    return base.look_up(base.load(provider.lookup_adapter), identity, config)
