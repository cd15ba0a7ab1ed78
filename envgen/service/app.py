"""The HTTP application put together: guard outside, routers inside, one form for every error."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version
from time import perf_counter

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from envgen.service.guard import Guard
from envgen.service.metrics import Metrics
from envgen.service.pages import routes as pages
from envgen.service.pages.context import Context
from envgen.service.routes import environments, figures, jobs, plays, shards, steering, system
from envgen.service.state import Service
from envgen.service.worker import Refused
from memory.faults import is_storage
from spadekit.errors import BadInput

ABOUT = """
Spadework designs training environments for a language model, checks them by machine, measures how
much a hint helps the model (its *regret*), and keeps those at the model's frontier.

Calls that change something need the header `X-Spadework: 1` and, where the service has a token,
`Authorization: Bearer TOKEN`. Every error has the form `{"detail": "one line"}`. Lists come in pages
(`offset`, `limit`).

Titles, sources, hints and transcripts were written by models: treat them as hostile text, and run
sources in a sandbox only.
"""
TAGS = [
    {"name": "jobs", "description": "Pieces of work: start, follow, cancel. One runs at a time."},
    {"name": "stock", "description": "Frontier environments that the service keeps by itself."},
    {"name": "policy", "description": "The model's versions: which one designs and plays."},
    {"name": "environments", "description": "Stored programs, their figures and plays; search."},
    {"name": "shards", "description": "What each round published."},
    {"name": "designs", "description": "What the designer wrote, admitted or not."},
    {
        "name": "figures",
        "description": "The map, and figures of rounds and runs, as pages show them.",
    },
    {"name": "plays by hand", "description": "Play a stored environment in the sandbox."},
    {"name": "service", "description": "Health and metrics."},
]


def make_app(service: Service) -> ASGIApp:
    """Return the application of a running service: the API and the pages."""
    context = Context.of(service)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await context.close()

    app = FastAPI(
        title="Spadework",
        summary="A language model writes its own training environments.",
        description=ABOUT,
        version=version("spadework"),
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        lifespan=living,
    )
    routes: list[BaseRoute] = []
    of_service = [one.router(service) for one in (jobs, steering, environments, shards, system)]
    of_pages = [one.router(context) for one in (figures, plays, pages)]
    for router in (*of_service, *of_pages):
        app.include_router(router)
        routes += router.routes

    def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        status, detail, headers = error.status_code, error.detail, error.headers
        if status == 400:  # FastAPI's, for a body that is no text or nested too deep
            status, detail = 422, "the body cannot be read as JSON"
        elif status == 405:  # Starlette's names the methods of one route only
            headers = {"allow": ", ".join(methods_at(routes, request.scope))}
        as_page = pages.problem(request, status, str(detail))
        return as_page or JSONResponse({"detail": detail}, status, headers)

    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(BadInput, _bad_input)
    app.add_exception_handler(Refused, _not_now)
    return Measured(Guard(app, service.rules), service.metrics)


class Measured:
    """Counts requests by route, so that made-up paths make no new figures."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "none")
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._metrics.request_seconds.labels(route).observe(perf_counter() - began)
                self._metrics.requests.labels(method, route, message["status"]).inc()
            await send(message)

        await self._app(scope, receive, noted)


_METHODS = ("GET", "HEAD", "POST", "PUT", "OPTIONS")


def _invalid(request: Request, error: Exception) -> Response:
    """Say in one line which field is wrong."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    detail = f"{where}: {first['msg']}"
    return pages.problem(request, 422, detail) or JSONResponse({"detail": detail}, 422)


def methods_at(routes: Iterable[BaseRoute], scope: Scope) -> list[str]:
    """Return the methods that a request's path can be asked with."""
    found: set[str] = set()
    for route in routes:
        if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return sorted(found)


def _bad_input(request: Request, error: Exception) -> Response:
    """What storage says is not the caller's fault; anything else is."""
    cause = error.__cause__
    status = 503 if cause is not None and is_storage(cause) else 422
    detail = " ".join(str(error).split())
    return pages.problem(request, status, detail) or JSONResponse({"detail": detail}, status)


def _not_now(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return JSONResponse({"detail": str(error)}, 429 if error.full else 503)
