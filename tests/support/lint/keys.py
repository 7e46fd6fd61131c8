"""Labelled workflows: what a key is made of, and where it is lost."""

from sweeper.n8n.lint.example import (
    CLAIM,
    COMPLETE,
    GUARDED,
    MARK,
    SEND,
    TRIGGER,
    by_sql,
    flow,
    post,
    query,
    step,
)
from tests.support.lint.parts import (
    Label,
    label,
)

LABELS: list[Label] = [
    label("a key of the event and nothing else", flow=flow(*GUARDED)),
    label("a key from Date.now in a Code node", "LW101", flow=flow(
        TRIGGER, step("code", "Key", jsCode="const at = Date.now();\nreturn items.map(i => ({json: {...i.json,"
                      " idem_key: `order-${at}`}}));"))),
    label("a key from Math.random through a variable", "LW101", "LW102", flow=flow(
        TRIGGER, step("code", "Key", jsCode="const r = Math.random().toString(36); const k = 'x' + r;\n"
                      "for (const item of items) { item.json.idempotency_key = k; }\nreturn items;"))),
    label("a time beside the key is no key", flow=flow(
        TRIGGER, step("code", "Key", jsCode="return items.map(i => ({json: {...i.json, idem_key: i.json.id,"
                      " seen_at: Date.now()}}));"))),
    label("a Crypto node's uuid two nodes before the claim", "LW101", "LW102", flow=flow(
        TRIGGER, step("crypto", "Uuid", action="generate", dataPropertyName="made"),
        step("set", "Note", assignments={"assignments": [{"name": "why", "value": "x"}]}, includeOtherFields=True),
        by_sql("Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: $json.made } }"),
        MARK, SEND, COMPLETE)),
    label("a hash of the event is a key", flow=flow(
        TRIGGER, step("crypto", "Hash", action="hash", value="={{ $json.id }}", dataPropertyName="hashed"),
        by_sql("Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: $json.hashed } }"),
        MARK, SEND, COMPLETE)),
    label("an Idempotency-Key header with the time", "LW101", flow=flow(
        TRIGGER, CLAIM, MARK, post("Send", key="=k-{{ $now.toMillis() }}"), COMPLETE)),
    label("the run's id beside the event, not in it", flow=flow(
        TRIGGER, by_sql("Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: $json.id },"
                        " execution_id: $execution.id, owner_token: crypto.randomUUID() }"), MARK, SEND, COMPLETE)),
    label("a uuid where the event has no id of its own", "LW101", flow=flow(
        step("scheduleTrigger", "Event"),
        by_sql("Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: uuidv4() } }"),
        MARK, SEND, COMPLETE)),
    label("a key written by the sources' own SQL", "LW101", flow=flow(
        TRIGGER, query("Gate", "INSERT INTO idem (idem_key, status, claimed_at) VALUES ($1, 'pending', now())"
                       " ON CONFLICT (idem_key) DO NOTHING RETURNING idem_key", "$execution.id"))),
    label("Edit Fields of version 2 that keeps only what it sets", "LW103", flow=flow(
        TRIGGER, CLAIM, step("set", "Text", version=2, keepOnlySet=True,
                             values={"string": [{"name": "text", "value": "x"}]}), MARK, SEND, COMPLETE)),
    label("a Code node that spreads the item", flow=flow(
        TRIGGER, CLAIM, step("code", "Text", jsCode="return items.map(i => ({json: {...i.json, text: 'x'}}));"),
        MARK, SEND, COMPLETE)),
    label("a Code node that makes another item", "LW103", flow=flow(
        TRIGGER, CLAIM, step("code", "Text", jsCode="return [{json: {text: 'x'}}];"), MARK, SEND, COMPLETE)),
    label("the answer of a send has no token", "LW103", flow=flow(
        TRIGGER, CLAIM, MARK, SEND,
        by_sql("Complete", "complete_job", "{ workflow: 'mail', job_id: $json.job_id,"
               " owner_token: $json.owner_token, result: $json.body }", only=""))),
]  # fmt: skip
