"""The map of environments and the figures of rounds and runs, as the pages show them."""

import gzip
import json
import threading
from typing import Any

from fastapi import APIRouter, Request, Response

from envgen.service.pages import reports
from envgen.service.pages.context import Context
from envgen.service.pages.models import MapModel, RoundModel, RunModel
from envgen.service.state import answers
from memory.standing import STATUSES


def router(context: Context) -> APIRouter:
    """Return the calls about the map, rounds and the run."""
    opened = context.service.opened
    routes = APIRouter(tags=["figures"])
    packed = _Packed()

    @routes.get("/map", response_model=MapModel, responses=answers())
    def show_map(request: Request) -> Response:
        """Show where environments lie on the map, column by column. Never waits for it to be drawn.

        Alike ones lie near each other; a point that is there stays where it is while `digest` does.
        """
        state, drawn = context.maker.look()
        entries = context.catalogue.entries()
        key = (state, context.maker.problem, id(drawn), id(entries))
        body = packed.get(key, (drawn, entries), lambda: _columns(context, state, drawn, entries))
        headers = {"vary": "accept-encoding"}
        small = "gzip" in request.headers.get("accept-encoding", "")
        if small:
            headers["content-encoding"] = "gzip"
        return Response(body[small], media_type="application/json", headers=headers)

    @routes.get("/figures/rounds", responses=answers())
    def rounds_figures() -> list[RoundModel]:
        """Show what came of each round, oldest first: funnel, returns, regret, variety, cost."""
        return reports.rounds(opened.store.shards(), context.catalogue.entries())

    @routes.get("/figures/run", responses=answers())
    def run_figures() -> RunModel:
        """Show the curves of both roles, and which shard each policy version was trained on."""
        return reports.run(opened.store.shards(), opened.versions)

    return routes


class _Packed:
    """The last answer, plain and packed, as long as nothing that it was made of has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Any = None
        self._made_of: Any = None  # kept, so that no other object can come to have its id
        self._bodies = (b"", b"")

    def get(self, key: Any, made_of: Any, make: Any) -> tuple[bytes, bytes]:
        with self._lock:
            if key != self._key:
                body = json.dumps(make(), allow_nan=False, separators=(",", ":")).encode()
                self._bodies = (body, gzip.compress(body, 5, mtime=0))
                self._key, self._made_of = key, made_of
            return self._bodies


def _columns(context: Context, state: str, drawn: Any, entries: Any) -> dict[str, Any]:
    known = sorted({skill for one in entries for skill in one.skills})
    skill_at = {name: at for at, name in enumerate(known)}
    status_at = {name: at for at, name in enumerate(STATUSES)}
    shown = [one for one in entries if one.id in drawn.places]
    places = [drawn.places[one.id] for one in shown]
    return {
        "state": state,
        "problem": context.maker.problem if state == "failed" else "",
        "digest": drawn.digest,
        "total": len(entries),
        "skills_known": known,
        "statuses_known": list(STATUSES),
        "id": [one.id for one in shown],
        "x": [round(x, 4) for x, _ in places],
        "y": [round(y, 4) for _, y in places],
        "skills": [[skill_at[name] for name in one.skills] for one in shown],
        "status": [status_at[one.status] for one in shown],
        "regret": [None if one.regret is None else round(one.regret, 3) for one in shown],
        "shard": [one.shard for one in shown],
        "policy_version": [one.policy_version for one in shown],
    }
