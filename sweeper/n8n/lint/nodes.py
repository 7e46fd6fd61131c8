"""What nodes do in the world, by their kind and operation: what starts, branches, sends, writes.

One small vocabulary for all rules. A *send* is an effect that happens again when it is repeated: a
message, a charge, a new row in somebody's service. A write that sets a value is none. What a kind
nobody knows does is judged by the verb of its operation, and by nothing where it has none.
"""

import re

from sweeper.n8n.lint import js
from sweeper.n8n.lint.model import Node

DATABASES = frozenset({
    "crateDb", "dataTable", "elasticsearch", "mariadb", "microsoftSql", "mongoDb", "mySql",
    "n8nTrainingCustomerDatastore", "neo4j", "oracleDatabase", "postgres", "questDb", "redis",
    "snowflake", "supabase", "timescaleDb",
})  # fmt: skip
SQL = frozenset({
    "crateDb", "microsoftSql", "mySql", "mySqlTool", "oracleDatabase", "postgres",
    "postgresTool", "questDb", "snowflake", "timescaleDb",
})  # fmt: skip
BRANCHES = frozenset({"if", "switch", "filter"})
# What hands on the items it gets, with all their fields.
CARRIERS = BRANCHES | {
    "disabled", "noOp", "wait", "limit", "sort", "splitInBatches", "removeDuplicates", "merge",
    "stopAndError", "respondToWebhook", "executionData", "stickyNote",
}  # fmt: skip
# What makes new items out of its answer: the fields it was given are gone behind it.
REPLACERS = frozenset({
    "aggregate", "discord", "emailSend", "gmail", "graphql", "httpRequest", "hubspot",
    "mailgun", "microsoftOutlook", "microsoftTeams", "mySql", "postgres", "sendGrid", "slack",
    "stripe", "summarize", "telegram", "twilio", "whatsApp",
})  # fmt: skip

_STARTS = frozenset({"webhook", "cron", "interval", "start", "emailReadImap", "formTrigger"})
_MESSAGES = frozenset({
    "awsSes", "awsSns", "ciscoWebex", "discord", "emailSend", "facebookGraphApi", "gmail",
    "googleChat", "gotify", "line", "linkedIn", "mailgun", "mailjet", "mandrill", "matrix",
    "mattermost", "messageBird", "microsoftOutlook", "microsoftTeams", "mocean", "msg91",
    "plivo", "pushbullet", "pushcut", "pushover", "rocketchat", "sendGrid", "seven", "signl4",
    "slack", "sms77", "telegram", "twilio", "twist", "twitter", "vonage", "whatsApp", "zulip",
})  # fmt: skip
# Operations of these that say nothing to anybody, or set a value that is the same when set again.
_SILENT = re.compile(
    r"^(get|list|search|find|read|lookup|download|info|count|history|member|permalink|exists|update|delete"
    r"|remove|mark|edit|addlabels?|pin|unpin|archive|leave|kick|react|trash|move|chat|file|open|join"
    r"|answer(query|inline)|sendchataction|replies|media|resolve|verify)",
    re.IGNORECASE,
)
_QUIET_RESOURCES = frozenset(
    {"draft", "label", "reaction", "star", "user", "userGroup", "chat", "folder"}
)
_FIRST_OF_MESSAGES = (
    "", "alert", "channelMessage", "chatMessage", "email", "mail", "message", "post", "sms",
    "tweet",
)  # fmt: skip
_ADDS = re.compile(
    r"^(create|add(?!label)|append(?!orupdate)|insert|post|send|publish|invite|charge|pay|refund"
    r"|order|subscribe|enroll|reply|make|call|dispatch|trigger|tweet|upload|copy|duplicate|clone)",
    re.IGNORECASE,
)
# What makes something new for the workflow itself, not an effect on anybody.
_OWN_MAKING = frozenset({
    "aiTransform", "airtop", "apiTemplateIo", "awsS3", "awsTextract", "bannerbear", "code",
    "compression", "convertToFile", "crypto", "dateTime", "deepL", "disabled", "dropbox",
    "editImage", "executeCommand", "executeWorkflow", "form", "ftp", "git",
    "googleCloudStorage", "html", "httpRequest", "itemLists", "jwt", "markdown", "mindee",
    "n8n", "nextCloud", "openAi", "quickChart", "readWriteFile", "s3", "set", "splitOut",
    "spreadsheetFile", "ssh", "totp", "webhook", "xml",
})  # fmt: skip
# A POST that only asks or makes something for the workflow itself: models, searches, tokens, files.
_LISTS = ("read", "search", "list", "find", "getAll", "getMany", "lookup", "getRows")
_ASKED_HOSTS = re.compile(
    r"openai\.(com|azure)|anthropic\.com|googleapis\.com/(v1(beta)?/(models|documents)|upload)"
    r"|generativelanguage|aiplatform|openrouter\.ai|huggingface|serpapi|serper\.dev|scrap|apify\.com"
    r"|rapidapi|://mcp[.-]|browserless|selenium|jina\.ai|fal\.(run|ai)|kie\.ai|piapi|bfl\.ml|leonardo\.ai|runwayml|voyageai"
    r"|llamaindex|assemblyai|deepgram|imgbb|tmpfiles|hcti\.io|photoroom|brightdata|dumplingai|json2video"
    r"|chart-img|dataforseo|qdrant|pinecone|weaviate|pdf-services|pdfmonkey|creatomate|shotstack|heygen"
    r"|api\.(groq|mistral|cohere|deepseek|perplexity|x|together|fireworks|deepl|tavily|exa|firecrawl"
    r"|replicate|stability|elevenlabs|cloudinary|cloudconvert|convertapi|minimax|anymailfinder|defapi)\.",
    re.IGNORECASE,
)
_ASKED_PATHS = re.compile(
    r"/(chat/completions|embeddings?|search|query|lookup|find|match|token|access_token|oauth2?|login|auth"
    r"|signin|session|validat\w*|verif\w*|translate|convert|parse|extract|render|screenshot|predict"
    r"|generat\w*|completion|analy[sz]e|scrape|crawl|similarity|batchGet|runReport|searchStream|annotate"
    r"|uploads?|media|files?|signed?|mcp|transcri\w*|listRecords|delete|facet|graphql|points|collections)"
    r"s?(/|\?|:|$|\{|'|\")|:(search|query|run|batch\w*)|databases/[^/]+/query|createSession",
    re.IGNORECASE,
)
_ASKED_VERBS = re.compile(r"/(get|fetch|find|list|search|check|read|lookup)[A-Z_-]")
_HTTP_IN_CODE = re.compile(
    r"(^|\.)(httpRequest\w*|request|fetch|axios|got)(\.(post|put|patch|delete))?$"
)


def starts(node: Node) -> bool:
    """Whether a workflow begins here."""
    return node.kind in _STARTS or node.kind.endswith("Trigger") or node.kind.endswith("trigger")


def starts_for_errors(node: Node) -> bool:
    """Whether n8n begins here when another workflow failed."""
    return node.kind == "errorTrigger"


def branches(node: Node) -> bool:
    """Whether it sends its items one way or another by a condition."""
    return node.kind in BRANCHES


def method(node: Node) -> str:
    """Return the method of an HTTP request, whichever version of the node says it."""
    return node.text("method" if node.version >= 3 else "requestMethod", "GET").upper()


def sends(node: Node) -> bool:
    """Whether it has an effect outside that happens again when it is repeated."""
    kind = node.kind
    if kind == "httpRequest":
        return _http_sends(node)
    if kind == "facebookGraphApi":
        return node.text("httpRequestMethod", "GET") == "POST"
    if kind in ("code", "function", "functionItem"):
        return _code_sends(node)
    if kind == "graphql":
        return "mutation" in node.text("query").lower()
    if starts(node) or kind in DATABASES or kind in _OWN_MAKING or "langchain" in node.type:
        return False
    if kind in _MESSAGES:
        if not node.operation and node.resource not in _FIRST_OF_MESSAGES:
            return False  # its default, which for most of these is to list
        return not (_SILENT.match(node.operation) or node.resource in _QUIET_RESOURCES)
    return bool(_ADDS.match(node.operation)) and node.resource not in _QUIET_RESOURCES


_OPAQUE = frozenset({"executeCommand", "executeWorkflow", "ssh", "n8n"})


def opaque(node: Node) -> bool:
    """Whether it may send without this being seen: a command, another workflow, foreign code."""
    if node.kind == "code" and not program(node) and node.get("pythonCode") is not None:
        return True
    ours = node.type.startswith(("n8n-nodes-base.", "@n8n/"))
    return node.kind in _OPAQUE or (not ours and node.kind != "disabled")


def _http_sends(node: Node) -> bool:
    """Whether a request has an effect each time: a POST. PUT and PATCH set what they name."""
    verb, url = method(node), node.text("url")
    if verb != "POST":
        return verb.startswith("=")
    if "graphql" in url.lower():
        return _mutates(node)
    return bool(url) and not asks(url)


def asks(url: str) -> bool:
    """Whether a POST to this address only asks, or makes something nobody else sees."""
    return any(words.search(url) for words in (_ASKED_HOSTS, _ASKED_PATHS, _ASKED_VERBS))


def _mutates(node: Node) -> bool:
    return any(re.search(r"\bmutation\b", text) for _, text in node.texts)


def _code_sends(node: Node) -> bool:
    code = program(node)
    if not re.search(r"httpRequest|fetch\s*\(|axios|\.request\s*\(|\bgot\b", code):
        return False
    root = js.program(code)
    for part in js.walk(root) if root is not None else ():
        if part.type == "call_expression":
            called = part.child_by_field_name("function")
            name = js.text_of(called).replace("?.", ".") if called is not None else ""
            whole = js.text_of(part)
            if (
                _HTTP_IN_CODE.search(name)
                and (
                    name.endswith((".post", ".put", ".patch"))
                    or re.search(r"['\"](POST|PUT|PATCH)['\"]", whole)
                )
                and not asks(whole)
            ):
                return True
    return False


def program(node: Node) -> str:
    """Return the JavaScript of a Code or Function node, '' where it has none."""
    if node.kind == "code":
        return (
            "" if node.text("language", "javaScript").startswith("python") else node.text("jsCode")
        )
    return node.text("functionCode") if node.kind in ("function", "functionItem") else ""


def keyed(node: Node) -> bool:
    """Whether a request carries an idempotency key that its receiver is asked to honour."""
    return any(key_header(name) for name, _ in headers(node))


def key_header(name: str) -> bool:
    """Whether a header's name is one that services take an idempotency key in."""
    return bool(
        re.search(r"idempotency|^x-request-id$|paypal-request-id|if-none-match", name.lower())
    )


def headers(node: Node) -> list[tuple[str, str]]:
    """Return name and value of the headers of an HTTP request."""
    rows = node.entries("headerParameters.parameters") + node.entries(
        "headerParametersUi.parameter"
    )
    found = [(str(row.get("name", "")), str(row.get("value", ""))) for row in rows]
    text = node.text("jsonHeaders") or node.text("headerParametersJson")
    found.extend(re.findall(r'"([\w-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"', text))
    return found


def wait_seconds(node: Node) -> float | None:
    """Return how long a Wait node waits, None where that is not for a fixed time."""
    if node.kind != "wait" or node.text("resume") != "timeInterval":
        return None
    try:
        amount = float(node.get("amount"))
    except (TypeError, ValueError):
        return None
    unit = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}.get(node.text("unit"))
    return amount * unit if unit else None


_SPREADS = frozenset({
    "airtable", "baserow", "dataTable", "extractFromFile", "googleCalendar", "googleSheets",
    "itemLists", "mongoDb", "nocoDb", "notion", "rssFeedRead", "splitOut", "spreadsheetFile",
    "supabase",
})  # fmt: skip


def many(node: Node) -> bool:
    """Whether it can turn one item into several."""
    if node.kind == "itemLists":
        return node.operation in ("splitOutItems", "")
    if node.kind in ("extractFromFile", "spreadsheetFile"):
        return node.operation in ("", "csv", "xls", "xlsx", "ods", "fromFile", "ics")
    if node.kind in ("splitOut", "rssFeedRead"):
        return True
    if node.kind in _SPREADS:
        return node.operation in _LISTS
    if node.kind in ("postgres", "mySql", "microsoftSql"):
        return node.operation == "select" and node.get("limit") != 1
    return False


def gathers(node: Node) -> bool:
    """Whether it may make one item of several; of a program that gets all items nobody can tell."""
    if node.kind == "itemLists":
        return node.operation not in ("splitOutItems", "", "sort", "removeDuplicates")
    if node.kind == "code":
        return node.text("mode", "runOnceForAllItems") == "runOnceForAllItems"
    if node.kind == "limit":
        return bool(node.get("maxItems", 1) == 1)
    return node.execute_once or node.kind in ("aggregate", "summarize", "function", "convertToFile")


def splits_one_by_one(node: Node) -> bool:
    """Whether it hands its items on one at a time."""
    return node.kind == "splitInBatches" and node.get("batchSize") == 1
