"""The routes of the HTTP door: one for each operation with a path and for each verb of people."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from inspect import Parameter, Signature

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Router

from ledger.api import people
from ledger.api.door import serve
from ledger.api.people import PersonVerb
from ledger.api.schemas import describe, describe_person, summary
from ledger.catalog import OPERATIONS, Operation

PARAMETER = re.compile(r"\{(\w+)\}")


def add_all(api: NinjaAPI) -> None:
    """Add every operation under its path, grouped by the first word of it."""
    routers: dict[str, Router] = {}
    for operation in sorted(_reachable(), key=_last_where_any_path_fits):
        method, path = operation.http or ("", "")
        noun = path.split("/")[1]
        router = routers.setdefault(noun, Router(tags=[noun]))
        router.add_api_operation(
            _pattern(path),
            [method],
            _view(partial(serve, operation), operation.name, path),
            operation_id=operation.name,
            summary=summary(operation.name),
            openapi_extra=describe(operation),
        )
    for router in routers.values():
        api.add_router("", router)


def add_for_people(api: NinjaAPI, verbs: Iterable[PersonVerb]) -> None:
    """Add what people do that is no operation of the ledger; the floor above says what that is."""
    router = Router()
    for verb in verbs:
        method, path = verb.operation.http or ("", "")
        router.add_api_operation(
            _pattern(path),
            [method],
            _view(partial(people.serve, verb), verb.operation.name, path),
            operation_id=verb.operation.name,
            summary=verb.says,
            openapi_extra=describe_person(verb.operation, verb.takes),
            tags=[path.split("/")[1]],
        )
    api.add_router("", router)


def _pattern(path: str) -> str:
    """Return the path as the router reads it: the last parameter may hold slashes, as an id may."""
    before, brace, after = path.rpartition("{")
    return f"{before}{{path:{after}" if brace else path


def _reachable() -> list[Operation]:
    return [operation for operation in OPERATIONS.values() if operation.http]


def _last_where_any_path_fits(operation: Operation) -> bool:
    """Sort behind everything else a path that ends in a parameter: it would take theirs too."""
    return operation.http is not None and operation.http[1].endswith("}")


def _view(answer: Callable[..., HttpResponse], name: str, path: str) -> Callable[..., HttpResponse]:
    """Return the view of one operation, with the parameters of its path in its signature."""

    def view(request: HttpRequest, **path: str) -> HttpResponse:
        return answer(request, **path)

    view.__name__ = name
    in_path = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=str) for name in PARAMETER.findall(path)
    ]
    request = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=HttpRequest)
    view.__signature__ = Signature([request, *in_path])  # type: ignore[attr-defined]
    return view
