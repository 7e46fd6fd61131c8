"""Labelled workflows: what counts as a send, and what guards it."""

from sweeper.n8n.lint.example import (
    ANSWER,
    CLAIM,
    COMPLETE,
    GUARDED,
    HOOK,
    MARK,
    SEND,
    TRIGGER,
    by_sql,
    flow,
    post,
    step,
    when,
)
from tests.support.lint.parts import (
    MARK_HERE,
    Label,
    label,
)

LABELS: list[Label] = [
    label("a mail behind nothing", "LW301", flow=flow(TRIGGER, step("emailSend", "Mail", toEmail="a@b.example"))),
    label("a mail node that only searches", flow=flow(TRIGGER, step("gmail", "Mail", operation="getAll"))),
    label("a model asked by POST", flow=flow(TRIGGER, post("Ask", "https://api.openai.com/v1/chat/completions"))),
    label("a search by POST", flow=flow(TRIGGER, post("Ask", "https://crm.example/api/contacts/search"))),
    label("a GraphQL query", flow=flow(TRIGGER, post("Ask", "https://shop.example/graphql", body="query { a }"))),
    label("a GraphQL mutation", "LW301", flow=flow(
        TRIGGER, post("Buy", "https://shop.example/graphql", body="mutation { buy }"))),
    label("a request whose method is an expression", "LW301", flow=flow(
        TRIGGER, step("httpRequest", "Any", method="={{ $json.method }}", url="https://a.example/x"))),
    label("a request of version 1 that posts", "LW301", flow=flow(
        TRIGGER, step("httpRequest", "Old", version=1, requestMethod="POST", url="https://a.example/x"))),
    label("a POST inside a Code node", "LW301", flow=flow(
        TRIGGER, step("code", "Post", jsCode="await this.helpers.httpRequest({ method: 'POST', url:"
                      " 'https://a.example/pay', body: $json });\nreturn items;"))),
    label("a GET inside a Code node", flow=flow(
        TRIGGER, step("code", "Get", jsCode="const r = await fetch('https://a.example/x');\nreturn [{json: r}];"))),
    label("a service with a path like ours", "LW301", flow=flow(
        TRIGGER, step("httpRequest", "Job", method="POST", url="https://jobs.example/api/v1/jobs", sendBody=True,
                      specifyBody="json", jsonBody='={ "title": "{{ $json.title }}" }'))),
    label("one mark, two sends", "LW301", flow=flow(TRIGGER, CLAIM, MARK, SEND, post("Again"), COMPLETE)),
    label("a message behind the send, on its mark", "LW301", flow=flow(*GUARDED, step("slack", "Tell", text="hi"))),
    label("a loop around the send, the mark outside", "LW301", flow=flow(
        TRIGGER, CLAIM, MARK, step("splitInBatches", "Loop"), SEND, COMPLETE,
        wires="Event > Claim > Mark > Loop; Loop:1 > Send > Complete > Loop")),
    label("a way around the guard into a merge", "LW301", flow=flow(
        TRIGGER, when("Known?", "={{ $json.known }}", "yes"), CLAIM, MARK, step("merge", "Join"), SEND, COMPLETE,
        wires="Event > Known? > Claim > Mark > Join > Send > Complete; Known?:1 > Join")),
    label("a mark without a claim", "LW301", flow=flow(TRIGGER, MARK, SEND, COMPLETE)),
    label("the error output of a claim leads on", "LW301", flow=flow(
        TRIGGER, {**CLAIM, "onError": "continueErrorOutput"}, MARK, SEND, COMPLETE,
        wires="Event > Claim > Mark > Send > Complete; Claim:1 > Send")),
    label("two triggers, one guarded", "LW301", flow=flow(
        *GUARDED, step("manualTrigger", "By hand"),
        wires="Event > Claim > Mark > Send > Complete; By hand > Send")),
    label("a sub-workflow that sends is judged by itself", "LW301", flow=flow(
        step("executeWorkflowTrigger", "Called"), SEND)),
    label("calling a sub-workflow is no send", flow=flow(
        TRIGGER, step("executeWorkflow", "Sub", workflowId="={{ $workflow.id }}"))),
    label("an error workflow that tells a channel", flow=flow(
        step("errorTrigger", "Error"), by_sql("Keep", "post_failed_job", "$json", only=""),
        step("slack", "Tell", text="failed"), settings={})),
    label("a mail retried", "LW302", flow=flow(
        TRIGGER, CLAIM, MARK, step("gmail", "Mail", operation="send", retryOnFail=True), COMPLETE)),
    label("a keyed send retried with many items", "LW302", flow=flow(
        TRIGGER, CLAIM, step("splitOut", "Each", fieldToSplitOut="rows", include="allOtherFields"), MARK_HERE,
        post("Send", key="={{ $json.provider_key }}", retryOnFail=True), COMPLETE)),
    label("many items gathered into one mail", "LW301", flow=flow(
        step("scheduleTrigger", "Event"), step("googleSheets", "Rows", operation="read", documentId="d"),
        step("aggregate", "All", aggregate="aggregateAllItemData"), step("gmail", "Mail", operation="send"))),
    label("jobs of the queue, one by one", flow=flow(
        step("scheduleTrigger", "Event"),
        by_sql("Take", "claim_next_jobs", "{ workflow: 'mail', limit: 10 }"),
        step("splitInBatches", "Loop"), MARK, SEND,
        by_sql("Complete", "complete_job", "{ workflow: 'mail', job_id: $('Loop').item.json.job_id,"
               " owner_token: $('Loop').item.json.owner_token, result: $json }", only=""),
        wires="Event > Take > Loop; Loop:1 > Mark > Send > Complete > Loop")),
    label("an agent with an HTTP tool that posts", "LW304", flow=flow(
        step("@n8n/n8n-nodes-langchain.chatTrigger", "Chat"), step("@n8n/n8n-nodes-langchain.agent", "Agent"),
        step("@n8n/n8n-nodes-langchain.toolHttpRequest", "Order", method="POST", url="https://a.example/orders"),
        wires="Chat > Agent; Order:ai_tool > Agent")),
    label("fail_job on the error output ends the job too", flow=flow(
        TRIGGER, CLAIM, MARK, {**SEND, "onError": "continueErrorOutput"},
        by_sql("Failed", "fail_job", "{ workflow: 'mail', job_id: $('Claim').item.json.job_id,"
               " owner_token: $('Claim').item.json.owner_token, error: 'x', effect_state: 'unknown' }", only=""),
        COMPLETE, wires="Event > Claim > Mark > Send > Complete; Send:1 > Failed")),
    label("a webhook that answers at once, by default", "LW306", flow=flow(
        step("webhook", "Event", path="x"), *GUARDED[1:])),
    label("a refusal before anything is recorded", flow=flow(
        HOOK, when("Signed?", "={{ $json.headers.signature }}", "", "exists"), ANSWER,
        wires="Hook > Signed?; Signed?:1 > Answer")),
    label("an execution retried by the n8n node", "LW307", flow=flow(
        step("scheduleTrigger", "Event"), step("n8n", "Again", resource="execution", operation="retry"))),
    label("lastNode behind a gate", "LW211", flow=flow(
        {**HOOK, "name": "Event", "parameters": {**HOOK["parameters"], "responseMode": "lastNode"}}, *GUARDED[1:])),
]  # fmt: skip
