"""Labelled workflows: queries, and the fields they write."""

from sweeper.n8n.lint.example import (
    TRIGGER,
    by_http,
    by_sql,
    flow,
    query,
    step,
)
from sweeper.n8n.lint.known import Known, Target
from tests.support.lint.parts import Label, label

_CUSTOMERS = Known(targets=(Target("customers", "customers"),))
LABELS: list[Label] = [
    label("comma parameters where they still hold", flow=flow(
        TRIGGER, step("postgres", "Note", version=2.4, operation="executeQuery", query="SELECT $1",
                      options={"queryReplacement": "={{ $json.id }}, {{ $json.b }}"}))),
    label("the bare text for an operation", "LW401", flow=flow(
        TRIGGER, step("postgres", "Read", version=2.4, operation="executeQuery",
                      query="SELECT * FROM ledger.explain_job($1::jsonb)",
                      options={"queryReplacement": "={{ JSON.stringify($json) }}", "queryBatching": "independently"}))),
    label("braces without an equals sign", "LW402", flow=flow(
        TRIGGER, step("mySql", "Find", operation="executeQuery", query="SELECT * FROM t WHERE a = {{ $json.a }}"))),
    label("braces that hold a number", flow=flow(
        TRIGGER, step("postgres", "Find", operation="executeQuery", query="SELECT * FROM t LIMIT {{ 10 }}"))),
    label("a table of the item in a query", "LW402", "LW403", flow=flow(
        TRIGGER, step("postgres", "Find", operation="executeQuery", query="DELETE FROM {{ $json.t }} WHERE id = 1"))),
    label("a CREATE TABLE that a Code node writes", "LW403", flow=flow(
        TRIGGER, step("code", "Table", jsCode="return [{json: {sql: `CREATE TABLE leads_${$json.client} (id int)`}}];"))),
    label("a made-up password in a note", flow=flow(
        TRIGGER, step("stickyNote", "Note", content="postgres://user:password@host/db"))),
    label("a PUT of the whole item", "LW501", flow=flow(
        TRIGGER, step("httpRequest", "Save", method="PUT", url="https://crm.example/c/1", jsonBody="={{ $json }}"))),
    label("a PUT of named fields", flow=flow(
        TRIGGER, step("httpRequest", "Save", method="PUT", url="https://crm.example/c/1",
                      jsonBody="={{ { phone: $json.phone } }}"))),
    label("an upsert of a sheet that maps by itself", "LW501", flow=flow(
        TRIGGER, step("googleSheets", "Save", operation="appendOrUpdate", sheetName="s",
                      columns={"mappingMode": "autoMapInputData"}))),
    label("changes from an Edit Fields before", flow=flow(
        TRIGGER, step("set", "Build", assignments={"assignments": [{"name": "changes.phone", "value": "={{ $json.p }}"}]}),
        by_sql("Write", "write_fields", "{ workflow: 'form', target: 'customers', record_key: '1',"
               " expected_revision: 1, changes: $json.changes, event: { id: $('Event').item.json.id } }"))),
    label("changes of a spread item", "LW501", flow=flow(
        TRIGGER, by_sql("Write", "write_fields", "{ workflow: 'form', target: 'customers', record_key: '1',"
                        " expected_revision: 1, changes: { ...$json.body }, event: { id: $json.id } }"))),
    label("a field write by HTTP", flow=flow(
        TRIGGER, by_http("Write", "PATCH", "/records/customers/{{ $json.key }}",
                         '={ "expected_revision": {{ $json.revision }}, "changes": { "phone": "{{ $json.p }}" },'
                         ' "event": { "id": "{{ $json.id }}" } }'))),
    label("a field write by HTTP to whatever target", "LW503", flow=flow(
        TRIGGER, by_http("Write", "PATCH", "/records/{{ $json.t }}/1",
                         '={ "expected_revision": 1, "changes": { "phone": "1" }, "event": { "id": "{{ $json.id }}" } }'))),
    label("a registered table written through a form", "LW506", known=_CUSTOMERS, flow=flow(
        TRIGGER, step("postgres", "Save", operation="update", table={"__rl": True, "mode": "list", "value": "customers"},
                      columns={"mappingMode": "defineBelow", "matchingColumns": ["id"],
                               "value": {"id": "1", "phone": "={{ $json.p }}"}}))),
    label("a query nobody can read, with targets registered", "LW503", known=_CUSTOMERS, flow=flow(
        TRIGGER, query("Do", "DO $$ BEGIN PERFORM 1; END $$"))),
    label("a merge that keeps the newest", "LW504", flow=flow(
        TRIGGER, query("Save", "INSERT INTO t (id, a, updated_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE"
                       " SET a = excluded.a WHERE t.updated_at < excluded.updated_at", "$json.id", "1", "$json.at"))),
    label("old rows by the database's own clock", flow=flow(
        TRIGGER, query("Old", "UPDATE t SET stale = true WHERE updated_at < now() - interval '1 day'"))),
]  # fmt: skip
