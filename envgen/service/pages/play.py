"""Play in the browser: a game's offered actions as buttons, a tool's arguments as a form."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from envgen.service.pages import shell
from envgen.service.pages.arguments import Field, arguments_of, fields_of
from envgen.service.pages.context import Context
from envgen.service.pages.forms import form_of, number
from envgen.service.pages.models import MOST_TEXT
from envgen.service.pages.sessions import Full, Session, action_of, call_of
from sandbox import EnvironmentFault
from spadekit.errors import BadInput

SessionName = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
ENDINGS = {
    "won": "Won",
    "over": "Over, not won",
    "left": "You left",
    "idle": "Ended: nobody had played for a while",
    "fault": "The environment failed",
}
FEW_TOOLS = 3
"""Tools whose forms are all open at once."""


@dataclass(frozen=True)
class ToolView:
    """A tool as a form."""

    name: str
    about: str
    fields: list[Field]


def router(context: Context) -> APIRouter:
    """Return the pages of plays and what their forms are sent to."""
    sessions = context.sessions
    routes = APIRouter(include_in_schema=False)

    @routes.get("/play")
    async def nowhere() -> RedirectResponse:
        return RedirectResponse("/atlas")

    @routes.post("/play")
    async def start(request: Request) -> Response:
        form = await form_of(request)
        seed = number(form, "seed", 0, 2**31 - 1)
        session = await begin(context, form.get("environment", ""), seed)
        return shell.html("", headers={"HX-Redirect": f"/play/{session.id}"})

    @routes.get("/play/{name}")
    async def play(name: SessionName) -> HTMLResponse:
        session = known(context, name)
        return shell.page("play.jinja", here="", **_view(context, session))

    @routes.post("/play/{name}/act")
    async def act(name: SessionName, request: Request) -> HTMLResponse:
        session, form = known(context, name), await form_of(request)
        if "tool" in form:
            schema = _schema(session, form["tool"])
            action, shown = call_of(session.info, form["tool"], arguments_of(schema, form))
        else:
            text = form.get("text", "")
            if len(text) > MOST_TEXT:
                raise BadInput(f"an action has at most {MOST_TEXT} characters")
            if not text.strip():
                raise BadInput("type an action first")
            action, shown = action_of(session.info, text)
        await sessions.act(session, action, shown)
        return shell.page("play_table.jinja", **_view(context, session, form.get("tool", "")))

    @routes.post("/play/{name}/leave")
    async def leave(name: SessionName) -> HTMLResponse:
        session = known(context, name)
        await sessions.leave(session)
        return shell.page("play_table.jinja", **_view(context, session))

    return routes


async def begin(context: Context, environment: str, seed: int) -> Session:
    """Open a play of a stored environment. Raises the HTTP error of whatever is in the way."""
    record = await run_in_threadpool(context.environment, environment)
    if record is None:
        raise HTTPException(404, f"there is no environment {environment[:64]}")
    try:
        return await context.sessions.start(
            record.id, record.title, record.source, record.hint, seed
        )
    except Full as error:
        raise HTTPException(429, str(error)) from None
    except EnvironmentFault as fault:
        raise HTTPException(
            409, f"the environment does not begin on seed {seed}: {fault}"
        ) from None


def known(context: Context, name: str) -> Session:
    """Return a play. Raises the HTTP error for one that is forgotten or never was."""
    session = context.sessions.get(name)
    if session is None:
        raise HTTPException(404, "this play is over and forgotten, or never was")
    return session


def _view(context: Context, session: Session, used: str = "") -> dict[str, Any]:
    """Return what the page of a play shows; ``used`` is the tool that was called last."""
    tools = [tool["function"] for tool in session.info.tools]
    return {
        "session": session,
        "ending": ENDINGS.get(session.ended, ""),
        "few": FEW_TOOLS,
        "used": used,
        "left_min": round(context.sessions.left_s(session) / 60),
        "tools": [
            ToolView(
                str(one["name"]),
                str(one.get("description", "")),
                fields_of(one.get("parameters", {})),
            )
            for one in tools
        ],
    }


def _schema(session: Session, name: str) -> dict[str, Any]:
    for tool in session.info.tools:
        if tool["function"]["name"] == name:
            return dict(tool["function"].get("parameters", {}))
    raise BadInput(f"there is no tool {name[:60]!r} here")
