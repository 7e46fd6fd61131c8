"""The one NinjaAPI: its routes, who may enter, and what an exception is answered."""

import logging
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError
from ninja.openapi.schema import OpenAPISchema

from ledger.api import routes, schemas
from ledger.api.auth import BearerToken
from ledger.api.body import BodyError
from ledger.api.problems import ProblemError, problem
from ledger.errors import InvalidArgumentError, NotRecordedError

RETRY_S = "2"
"""A database that restarts is back after about this long."""

log = logging.getLogger(__name__)


class LandedApi(NinjaAPI):
    """Adds to the OpenAPI text what all operations share."""

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        """Return the text of the whole door."""
        text = super().get_openapi_schema(**kwargs)
        text["components"]["schemas"] |= schemas.components()
        return text


api = LandedApi(
    title="Landed",
    version="1",
    description="The guarded operations of the ledger. A loss is an answer: look at `outcome`.",
    urls_namespace="api",
    docs_url=None,
    auth=BearerToken(),
)
routes.add_all(api)


@api.exception_handler(ProblemError)
def _refused(_request: HttpRequest, error: ProblemError) -> HttpResponse:
    response = problem(error.status, error.code, error.hint, path=error.path)
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response


@api.exception_handler(AuthenticationError)
def _unknown(_request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    response = problem(
        401,
        "unauthenticated",
        'send "Authorization: Bearer <token>" with a token that is not revoked',
    )
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(BodyError)
def _unreadable(_request: HttpRequest, error: BodyError) -> HttpResponse:
    return problem(400, "not_storable", f"{error.hint}; nothing was recorded", path=error.path)


@api.exception_handler(InvalidArgumentError)
def _unstorable(_request: HttpRequest, error: InvalidArgumentError) -> HttpResponse:
    hint = f"the database refused a value: {error}; nothing was recorded"
    return problem(400, "not_storable", hint)


@api.exception_handler(UnreadablePostError)
def _cut_off(_request: HttpRequest, _error: UnreadablePostError) -> HttpResponse:
    return problem(400, "cut_off", "the connection ended before the body did; nothing was recorded")


@api.exception_handler(NotRecordedError)
@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def _not_recorded(_request: HttpRequest, error: Exception) -> HttpResponse:
    log.warning("nothing was recorded: %s", error)
    response = problem(
        503, "not_recorded", "the database did not answer and nothing was recorded; try again"
    )
    response["Retry-After"] = RETRY_S
    return response


@api.exception_handler(Exception)
def _broken(request: HttpRequest, error: Exception) -> HttpResponse:
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    return problem(500, "internal", "the server failed; nothing was recorded, its log says why")
