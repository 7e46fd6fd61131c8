"""An n8n workflow, woken by its production webhook, at least once.

Configuration: ``url`` and ``headers`` (for the webhook's own authentication). The woken workflow's
first step is ``claim_job`` on the event it was sent: that claim, not n8n, is what makes a second
wake harmless. A started workflow is no finished one; what it then does is its own job, with its own
row in the ledger.
"""

from collections.abc import Mapping

from sweeper.errors import LookupInconclusiveError
from sweeper.providers.base import (
    Config,
    Identity,
    LookUp,
    SendResult,
    Sent,
    check_settings,
    secret_name,
    setting,
)
from sweeper.providers.http_answer import read_send
from sweeper.providers.http_template import call, header_value, render
from sweeper.providers.template import parse
from sweeper.transport import check_url

SETTINGS: Mapping[str, type] = {
    "url": str,
    "headers": dict,
    "allow_private": list,
    "timeout_seconds": float,
}

# What a configuration is tried with before anybody relies on it.
SAMPLE = Identity("job-1", "wake:order 1/ü:v1", "<0123abcd@landed>")

# n8n's answer when a branch ended without an item: where the webhook answers with the last node,
# that is what a wake hears whose claim was lost.
NOTHING_TO_RETURN = "No item to return was found"


class N8nWebhook:
    """Wake the workflow; there is nothing to look up at n8n that would be evidence."""

    def can_look_up(self, config: Config) -> bool:
        """Say no: an execution that n8n lists says nothing about the effect."""
        return False

    def check(self, config: Config) -> None:
        """Refuse what this driver does not know."""
        check_settings(config, SETTINGS)
        allowed = setting(config, "allow_private", list, [])
        check_url(render(config, SAMPLE, method="POST", read_secret=secret_name).url, allowed)

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Post the stored payload, byte for byte, with the effect's identity in headers."""
        parse(payload)
        answer = call(
            config,
            config,
            identity,
            method="POST",
            body=payload,
            headers={
                "Content-Type": "application/json",
                "Idempotency-Key": header_value(identity.provider_key),
                "Landed-Job": header_value(identity.job_id),
            },
        )
        result = read_send(answer, ref="executionId")
        if result.http_status == 404:
            return SendResult(
                Sent.REJECTED, "n8n knows no such webhook: is the workflow active?", http_status=404
            )
        if result.http_status == 500 and NOTHING_TO_RETURN in result.reason:
            # The workflow ran and its claim let nothing through: this event was taken before.
            return SendResult(Sent.ACCEPTED, http_status=500, replayed=True)
        return result

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Give no answer."""
        raise LookupInconclusiveError("n8n cannot be asked about an effect")


DRIVER = N8nWebhook()
