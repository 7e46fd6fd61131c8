"""LW102: a made-up key although the provider names its events."""

from collections.abc import Iterator

from sweeper.n8n.lint import keys, nodes, runs
from sweeper.n8n.lint.example import COMPLETE, MARK, SEND, TRIGGER, by_sql, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_BAD = by_sql(
    "Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: uuid() } }"
)
_GOOD = by_sql(
    "Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: $json.id } }"
)

RULE = Rule(
    code="LW102",
    name="natural-id",
    level="error",
    what="A key is a made-up value (uuid, random, Crypto node) although the trigger delivers"
    " events that have an id of their own.",
    why="The provider repeats its own id on every redelivery; a value made here cannot be"
    " recognised.",
    fix="Use the provider's id: the Stripe event id, the order id, the delivery id, the"
    " message id.",
    also=frozenset({"LW101"}),
    bad=flow(TRIGGER, _BAD, MARK, SEND, COMPLETE),
    good=flow(TRIGGER, _GOOD, MARK, SEND, COMPLETE),
)

# Where the event's own id is, by the kind of the trigger.
_IDS = {
    "airtableTrigger": "$json.id",
    "calendlyTrigger": "$json.payload.uri",
    "facebookLeadAdsTrigger": "$json.id",
    "githubTrigger": "the X-GitHub-Delivery header",
    "gmailTrigger": "$json.id",
    "hubspotTrigger": "$json.eventId",
    "jiraTrigger": "$json.issue.id",
    "jotFormTrigger": "the submission id",
    "notionTrigger": "$json.id",
    "payPalTrigger": "$json.id",
    "pipedriveTrigger": "$json.meta.id",
    "shopifyTrigger": "$json.id",
    "slackTrigger": "$json.client_msg_id",
    "stripeTrigger": "$json.id",
    "telegramTrigger": "$json.update_id",
    "typeformTrigger": "the response token",
    "wooCommerceTrigger": "$json.id",
}


def check(flow: Flow) -> Iterator[Hit]:
    """Find made-up keys behind a trigger whose events have an id."""
    given = [_IDS[root.kind] for root in flow.roots if root.kind in _IDS]
    if not given:
        return
    for key in keys.keys(flow):
        source = keys.made_per_run(flow, key)
        if source and (runs.is_random(source) or source.startswith("the Crypto")):
            yield Hit(
                key.node, f"the key {key.name} is made up; the event has an id already: {given[0]}"
            )
    for node in flow.workflow.nodes:
        for name, source in runs.run_values(nodes.program(node)):
            if keys.named_like_a_key(name) and runs.is_random(source):
                yield Hit(
                    node, f"the key {name} is made up; the event has an id already: {given[0]}"
                )
