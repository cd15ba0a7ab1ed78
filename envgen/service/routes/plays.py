"""Plays by hand: open one, act, leave. Each runs in a jail of its own and ends by itself."""

from fastapi import APIRouter

from envgen.service.pages import play
from envgen.service.pages.context import Context
from envgen.service.pages.models import ActRequest, SessionModel, SessionRequest
from envgen.service.pages.play import SessionName
from envgen.service.pages.sessions import Session, action_of, call_of
from envgen.service.state import answers, changing

REFUSALS = (401, 403, 413)


def router(context: Context) -> APIRouter:
    """Return the calls about plays by hand."""
    sessions = context.sessions
    guarded = changing(context.service.rules)
    routes = APIRouter(tags=["plays by hand"])

    def shown(session: Session) -> SessionModel:
        return SessionModel.of(session, sessions.left_s(session))

    @routes.post(
        "/sessions",
        status_code=201,
        dependencies=guarded,
        responses=answers(*REFUSALS, 404, 409, 429),
    )
    async def begin_session(request: SessionRequest) -> SessionModel:
        """Open a play of a stored environment. A few are open at once; an idle one makes room."""
        return shown(await play.begin(context, request.environment, request.seed))

    @routes.get("/sessions/{name}", responses=answers(404))
    async def show_session(name: SessionName) -> SessionModel:
        """Show a play and all that was said in it."""
        return shown(play.known(context, name))

    @routes.post("/sessions/{name}/acts", dependencies=guarded, responses=answers(*REFUSALS, 404))
    async def act_in_session(name: SessionName, request: ActRequest) -> SessionModel:
        """Play one action: a game's text, which is boxed if it is not yet; a call; or words."""
        session = play.known(context, name)
        if request.tool:
            action, said = call_of(session.info, request.tool, request.arguments)
        else:
            action, said = action_of(session.info, request.text)
        await sessions.act(session, action, said)
        return shown(session)

    @routes.post("/sessions/{name}/leave", dependencies=guarded, responses=answers(*REFUSALS, 404))
    async def leave_session(name: SessionName) -> SessionModel:
        """End a play before its end."""
        session = play.known(context, name)
        await sessions.leave(session)
        return shown(session)

    return routes
