"""The OpenAPI text of each operation, made from what the operation itself says.

The request is the argument of the database function, the answer the dataclass of the Python door.
Nothing here is used to read a request.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from ledger.catalog import OPERATIONS, OUTCOMES, Operation
from ledger.operations.base import Answer
from ledger.operations.registry import answer_type, answers_many
from ledger.operations.specification import CALLER, members, sentence

SET_BY_THE_DOOR = {"payload_text", "work"}
"""Members of an argument that the door fills in; what a body says there is replaced."""
TEXT = {"type": "string", "minLength": 1, "maxLength": 800}
PROSE = TEXT | {"maxLength": 10000}

_TYPES: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "prose": PROSE,
    "bytes": {"type": "string"},
    "uuid": {"type": "string", "format": "uuid"},
    "time": {"type": "string", "format": "date-time"},
    "bool": {"type": "boolean"},
    "object": {"type": "object"},
    "array": {"type": "array"},
    "id": {"type": ["integer", "string"], "pattern": "^[0-9]{1,18}$"},
    "any": {},
}

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457. `row` is the operation's own answer, where there was one.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string", "description": "What is wrong and what to do."},
        "path": {"type": "string", "description": "Where in the request it is wrong."},
        "outcome": {"type": "string"},
        "row": {"type": "object"},
    },
}

TOLD: dict[str, Any] = {
    "type": "object",
    "description": "What came of what a person did, in the words of the console.",
    "required": ["outcome", "title"],
    "properties": {
        "outcome": {"$ref": "#/components/schemas/Outcome"},
        "title": {"type": "string"},
        "sentence": {"type": "string"},
        "next": {"type": "string", "description": "What to do now."},
        "detail": {"type": "object"},
    },
}


def describe(operation: Operation) -> dict[str, Any]:
    """Return what is said of one operation beside its path."""
    if operation.http is None:
        raise ValueError(f"{operation.name} is not reached over HTTP")
    answers = answer_type(operation.name).__name__
    return _text(operation, _request(operation), answers, many=answers_many(operation.name))


def describe_person(operation: Operation, taken: Mapping[str, str]) -> dict[str, Any]:
    """Return the same of what a person does that is no operation of the ledger."""
    return _text(operation, _schema(taken), "Told", many=False)


def _text(
    operation: Operation, schema: dict[str, Any], answers: str, *, many: bool
) -> dict[str, Any]:
    method, _path = operation.http or ("", "")
    text: dict[str, Any] = {
        "parameters": [_accept(operation)],
        "responses": _responses(answers, many=many),
    }
    if method == "GET":
        text["parameters"] += [
            {"in": "query", "name": name, "required": name in schema["required"], "schema": type_}
            for name, type_ in schema["properties"].items()
        ]
    else:
        content = {"application/json": {"schema": schema}}
        text["requestBody"] = {"required": True, "content": content}
    return text


def summary(operation: str) -> str:
    """Return the operation's sentence as a summary."""
    said = sentence(operation).rstrip(".")
    return said[0].upper() + said[1:]


def _request(operation: Operation) -> dict[str, Any]:
    """Return the schema of a body."""
    _method, path = operation.http or ("", "")
    own = {
        name: type_
        for name, type_ in members(operation.name).items()
        if name not in SET_BY_THE_DOOR and f"{{{name}}}" not in path
    }
    if operation.n8n:
        own |= {name: "text" for name in CALLER if name != "workflow"}
    return _schema(own)


def _schema(taken: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of an object with these members."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name, type_ in taken.items() if type_.endswith("!")],
        "properties": {name: _type(type_) for name, type_ in taken.items()},
    }


def _type(type_: str) -> dict[str, Any]:
    """Return the schema of one member."""
    kind, _, rest = type_.rstrip("!").partition(":")
    if kind == "enum":
        return {"type": "string", "enum": rest.split("|")}
    if kind == "int":
        low, _, high = rest.partition("..")
        return {"type": "integer", "minimum": int(low), "maximum": int(high)}
    return _TYPES[kind]


def _accept(operation: Operation) -> dict[str, Any]:
    """Describe the parameter that lists what the caller has a branch for."""
    return {
        "in": "query",
        "name": "accept",
        "required": False,
        "description": "Outcomes answered with 2xx, separated by commas.",
        "schema": {"type": "string", "default": ",".join(sorted(operation.accept))},
    }


def _responses(answers: str, *, many: bool) -> dict[int | str, Any]:
    """Describe the answers: the row for an accepted or lost outcome, a problem for all else."""
    schema: dict[str, Any] = _reference(answers)
    if many:
        schema = {"type": "array", "items": schema}
    row = {"application/json": {"schema": schema}}
    problem = {"application/problem+json": {"schema": _reference("Problem")}}
    return {
        200: {"description": "The outcome is accepted.", "content": row},
        409: {"description": "The outcome is a loss.", "content": row},
        "default": {"description": "Refused, or nothing recorded.", "content": problem},
    }


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def components() -> dict[str, Any]:
    """Return the schemas that operations refer to."""
    kinds = {answer_type(each.name) for each in OPERATIONS.values() if each.http}
    answers = {kind.__name__: _row(kind) for kind in sorted(kinds, key=lambda kind: kind.__name__)}
    outcome = {"type": "string", "enum": sorted(OUTCOMES)}
    return {"Problem": PROBLEM, "Outcome": outcome, "Told": TOLD, **answers}


def _row(kind: type[Answer]) -> dict[str, Any]:
    """Return the schema of a row."""
    row = TypeAdapter(kind).json_schema(mode="serialization")
    row["properties"]["outcome"] = _reference("Outcome")
    return row
