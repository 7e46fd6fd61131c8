"""Labelled workflows: who may go on, by both doors and every form of a branch."""

from typing import Any

from sweeper.n8n.lint.example import (
    CLAIM,
    COMPLETE,
    MARK,
    SEND,
    TRIGGER,
    by_http,
    by_sql,
    flow,
    post,
    query,
    step,
    when,
)
from tests.support.lint.parts import (
    ALL_OUTCOMES,
    BODY,
    HTTP_CLAIM,
    HTTP_DONE,
    HTTP_MARK,
    REST,
    TOKEN,
    Label,
    label,
)


def _http(name: str, options: dict[str, Any]) -> dict[str, Any]:
    return {
        **HTTP_CLAIM,
        "name": name,
        "parameters": {**HTTP_CLAIM["parameters"], "options": options},
    }


def _switch(left: str, *words: str, version: float = 3.2) -> dict[str, Any]:
    if version < 3:
        rules = [{"value2": word, "output": place} for place, word in enumerate(words)]
        return step(
            "switch",
            "Which?",
            version=version,
            dataType="string",
            value1=left,
            rules={"rules": rules},
        )
    made = [
        {"conditions": {"combinator": "and", "conditions": [
            {"leftValue": left, "rightValue": word, "operator": {"type": "string", "operation": "equals"}}]}}
        for word in words
    ]  # fmt: skip
    return step("switch", "Which?", version=version, rules={"values": made})


def _old_if(name: str, kind: str, left: str, right: Any, **more: Any) -> dict[str, Any]:
    row = {"value1": left, "value2": right, **more}
    return step("if", name, version=1, conditions={kind: [row]})


_GATE_WIRES = "Event > Claim > Which? > Mark > Send > Complete"
_BY_OUTCOME = "={{ $json.outcome }}"

LABELS: list[Label] = [
    label("the HTTP door guards by its default", flow=flow(TRIGGER, HTTP_CLAIM, HTTP_MARK, SEND, HTTP_DONE)),
    label("the HTTP door that never fails, unread", "LW206", "LW301", flow=flow(
        TRIGGER, _http("Claim", {"response": {"response": {"neverError": True, "fullResponse": True}}}),
        HTTP_MARK, SEND, HTTP_DONE)),
    label("the HTTP door that never fails, with an If on outcome", flow=flow(
        TRIGGER, _http("Claim", {"response": {"response": {"neverError": True, "fullResponse": True}}}),
        when("Won?", "={{ $json.body.outcome }}", "won"),
        by_http("Mark", "POST", "/jobs/{{ $json.body.job_id }}/mark-sending", TOKEN.replace("$json", "$json.body")),
        SEND, HTTP_DONE)),
    label("the HTTP door that also lets replays through", "LW206", "LW301", flow=flow(
        TRIGGER, by_http("Claim", "POST", "/jobs/claim", BODY, "?accept=won,replay"), HTTP_MARK, SEND, HTTP_DONE)),
    label("a Switch on outcome", flow=flow(TRIGGER, ALL_OUTCOMES, _switch(_BY_OUTCOME, "won", "replay"), *REST)),
    label("a Switch of version 1", flow=flow(
        TRIGGER, ALL_OUTCOMES, _switch(_BY_OUTCOME, "replay", "won", version=1), *REST,
        wires=_GATE_WIRES.replace("Which? >", "Which?; Which?:1 >"))),
    label("a Switch's other way", "LW301", flow=flow(
        TRIGGER, ALL_OUTCOMES, _switch(_BY_OUTCOME, "won", "replay"), *REST,
        wires=_GATE_WIRES.replace("Which? >", "Which?; Which?:1 >"))),
    label("an If of version 1", flow=flow(
        TRIGGER, ALL_OUTCOMES, _old_if("Which?", "string", _BY_OUTCOME, "won"), *REST)),
    label("an If on a comparison", flow=flow(
        TRIGGER, ALL_OUTCOMES, _old_if("Which?", "boolean", "={{ $json.outcome === 'won' }}", right=True), *REST)),
    label("the false way of an If on not won", flow=flow(
        TRIGGER, ALL_OUTCOMES, when("Which?", _BY_OUTCOME, "won", "notEquals"), *REST,
        wires=_GATE_WIRES.replace("Which? >", "Which?; Which?:1 >"))),
    label("a Filter on outcome", flow=flow(
        TRIGGER, ALL_OUTCOMES, {**when("Which?", _BY_OUTCOME, "won"), "type": "n8n-nodes-base.filter"}, *REST)),
    label("an If that always gives an item", "LW204", "LW206", "LW301", flow=flow(
        TRIGGER, ALL_OUTCOMES, {**when("Which?", _BY_OUTCOME, "won"), "alwaysOutputData": True}, *REST)),
    label("an If on something else", "LW206", "LW301", flow=flow(
        TRIGGER, ALL_OUTCOMES, when("Which?", "={{ $json.job_id }}", "1"), *REST)),
    label("an If on the outcome of another node", "LW301", flow=flow(
        TRIGGER, ALL_OUTCOMES, when("Which?", "={{ $('Event').item.json.outcome }}", "won"), *REST)),
    label("no filter and no branch", "LW206", "LW301", flow=flow(TRIGGER, ALL_OUTCOMES, *REST)),
    label("a gate that is switched off", "LW301", flow=flow(
        TRIGGER, {**CLAIM, "disabled": True}, MARK, SEND, COMPLETE)),
    label("a node version as text", flow=flow(
        TRIGGER, {**CLAIM, "typeVersion": "2.6"}, MARK, SEND, COMPLETE)),
    label("a node without a version", "LW203", "LW206", "LW301", flow=flow(
        TRIGGER, {k: v for k, v in CLAIM.items() if k != "typeVersion"}, MARK, SEND, COMPLETE)),
    label("continueOnFail of older exports", "LW204", "LW206", "LW301", flow=flow(
        TRIGGER, {**CLAIM, "continueOnFail": True}, MARK, SEND, COMPLETE)),
    label("the article's gate with an If", flow=flow(
        TRIGGER, query("Gate", "INSERT INTO idem (idem_key, status, claimed_at) VALUES ($1, 'pending', now())"
                       " ON CONFLICT (idem_key) DO NOTHING RETURNING 'claimed' AS outcome, idem_key", "$json.id"),
        when("Won?", "={{ $json.outcome }}", "claimed"), SEND,
        query("Done", "UPDATE idem SET status = 'done', done_at = now() WHERE idem_key = $1", "$('Event').item.json.id"))),
    label("the article's check before the work", "LW201", "LW301", flow=flow(
        TRIGGER, query("Seen?", "SELECT item_key FROM processed_items WHERE item_key = $1", "$json.id"),
        when("New?", "={{ $json.item_key }}", "", "notExists"), SEND,
        query("Note", "INSERT INTO processed_items (item_key, workflow_name, status) VALUES ($1, 'mail', 'success')",
              "$('Event').item.json.id"))),
    label("a sheet looked up and then appended to", "LW201", "LW301", "LW303", flow=flow(
        TRIGGER, step("googleSheets", "Rows", operation="read", documentId="d", sheetName="s"),
        when("New?", "={{ $json.row_number }}", "", "notExists"),
        step("googleSheets", "Add", operation="append", documentId="d", sheetName="s"))),
    label("two sheets of one document", "LW301", "LW303", flow=flow(
        TRIGGER, step("googleSheets", "Rows", operation="read", documentId="d", sheetName="s"),
        when("New?", "={{ $json.row_number }}", "", "notExists"),
        step("googleSheets", "Add", operation="append", documentId="d", sheetName="log"))),
    label("an insert that a constraint guards", flow=flow(
        TRIGGER, query("Seen?", "SELECT id FROM seen WHERE id = $1", "$json.id"),
        when("New?", "={{ $json.id }}", "", "notExists"),
        query("Note", "INSERT INTO seen (id) VALUES ($1) ON CONFLICT DO NOTHING", "$json.id"))),
    label("an upsert as a gate", "LW202", "LW301", flow=flow(
        TRIGGER, query("Gate", "INSERT INTO seen (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET n = seen.n + 1"
                       " RETURNING id", "$json.id"), post("Send"))),
    label("skip on conflict as a gate", "LW202", "LW301", flow=flow(
        TRIGGER, step("postgres", "Gate", operation="insert", table="seen", options={"skipOnConflict": True},
                      columns={"mappingMode": "defineBelow", "value": {"id": "={{ $json.id }}"}}), post("Send"))),
    label("a queue taken with SKIP LOCKED on an old node", "LW203", flow=flow(
        step("scheduleTrigger", "Event"),
        query("Take", "SELECT * FROM jobs WHERE state = 'queued' FOR UPDATE SKIP LOCKED LIMIT 1", version=2.2))),
    label("Remove Duplicates within one run", "LW301", flow=flow(
        TRIGGER, step("removeDuplicates", "Once", operation="removeDuplicateInputItems"), SEND)),
    label("a long wait while a claim is held", flow=flow(
        TRIGGER, CLAIM, step("wait", "Wait", amount=70, unit="seconds"), MARK, SEND, COMPLETE)),
    label("a wait in hours, by default of version 1", flow=flow(
        TRIGGER, CLAIM, step("wait", "Wait", version=1, amount=1), MARK, SEND, COMPLETE)),
    label("a wait of five seconds, by default", "LW209", flow=flow(
        TRIGGER, CLAIM, step("wait", "Wait"), MARK, SEND, COMPLETE)),
    label("a jittered wait before a field write is tried again", flow=flow(
        TRIGGER,
        by_sql("Read", "read_record", "{ workflow: 'form', target: 't', record_key: '1' }"),
        by_sql("Write", "write_fields", "{ workflow: 'form', target: 't', record_key: '1',"
               " expected_revision: $json.revision, changes: { phone: '1' }, event: { id: 1 } }", only=""),
        when("Won?", "={{ $json.outcome }}", "won"),
        step("wait", "Wait", amount="={{ Math.random() }}", unit="seconds"),
        wires="Event > Read > Write > Won?; Won?:1 > Wait > Read")),
    label("a sweep by the article's fixed age", flow=flow(
        step("scheduleTrigger", "Event"),
        query("Stuck", "SELECT * FROM jobs WHERE state = 'claimed' AND claimed_at < now() - interval '10 minutes'"))),
    label("the same beside a claim with a longer lease", "LW210", flow=flow(
        TRIGGER, by_sql("Claim", "claim_job", "{ workflow: 'mail', effect: 'receipt', event: { id: $json.id },"
                        " lease_seconds: 3600 }"), MARK, SEND, COMPLETE,
        query("Stuck", "SELECT * FROM jobs WHERE state = 'claimed' AND claimed_at < now() - interval '10 minutes'"))),
    label("a heartbeat between chunks, read", flow=flow(
        TRIGGER, CLAIM,
        by_sql("Beat", "heartbeat_job", "{ workflow: 'mail', job_id: $json.job_id, owner_token: $json.owner_token }"),
        *REST)),
    label("batches in one transaction, once per run", flow=flow(
        TRIGGER, {**CLAIM, "executeOnce": True, "parameters": {
            **CLAIM["parameters"], "options": {"queryReplacement": CLAIM["parameters"]["options"]["queryReplacement"]}}},
        MARK, SEND, COMPLETE)),
]  # fmt: skip
