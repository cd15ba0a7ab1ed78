"""All pages in one router, and the page that tells of a problem."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from envgen.service.pages import atlas, environment, play, rounds, runs, shell
from envgen.service.pages.context import Context

PLACES = ("/atlas", "/environment/", "/play", "/rounds", "/runs", "/static/")


def router(context: Context) -> APIRouter:
    """Return the pages, their parts and the files that they load."""
    routes = APIRouter(include_in_schema=False)
    for part in (atlas, environment, play, rounds, runs):
        routes.include_router(part.router(context))

    @routes.get("/")
    async def front() -> RedirectResponse:
        return RedirectResponse("/atlas")

    @routes.get("/static/{name}")
    def static(request: Request, name: str) -> Response:
        return shell.static(name, "gzip" in request.headers.get("accept-encoding", ""))

    return routes


def problem(request: Request, status: int, detail: str) -> HTMLResponse | None:
    """Return the page that tells of a problem; None where JSON is wanted: the API, and parts of pages."""
    a_page = request.url.path.startswith(PLACES) and request.method in ("GET", "HEAD")
    if not a_page or "hx-request" in request.headers:
        return None
    return shell.page("problem.jinja", status, here="", status_code=status, detail=detail)
