"""The atlas: the map, the list beside it, and what hovering shows."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from envgen.service.pages import shell
from envgen.service.pages.catalogue import Entry, chosen
from envgen.service.pages.context import Context
from envgen.service.pages.views import Row
from envgen.service.pages.words import STATUSES
from envgen.service.routes.environments import Words
from envgen.service.state import Name

SHOWN, SEARCHED = 40, 100
COLOURS = ("skill", "regret", "status", "shard", "version")


def router(context: Context) -> APIRouter:
    """Return the atlas and its parts."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/atlas")
    def atlas(
        q: Annotated[Words, Query()] = "",
        skill: Annotated[Words, Query()] = "",
        status: Annotated[Words, Query()] = "",
        by: Annotated[Words, Query()] = "skill",
    ) -> HTMLResponse:
        entries = context.catalogue.entries()
        if not entries:
            return shell.page("atlas_empty.jinja", here="/atlas")
        # Unknown filters find nothing, which the list says in a friendlier way than an error would.
        found = _found(context, entries, q.strip(), skill, status)
        return shell.page(
            "atlas.jinja",
            here="/atlas",
            q=q,
            skill=skill,
            status=status,
            by=by if by in COLOURS else "skill",
            skills=_skills(entries),
            statuses=STATUSES,
            colours=COLOURS,
            total=len(entries),
            matched=len(found),
            searched=bool(q.strip()),
            partly=bool(q.strip()) and not context.searchable,
            rows=[Row.of(one) for one in found[:SHOWN]],
            lit=[one.id for one in found] if q.strip() else None,
        )

    @routes.get("/atlas/card/{name}")
    def card(name: Name) -> HTMLResponse:
        for one in context.catalogue.entries():
            if one.id.startswith(name):
                return shell.page("atlas_card.jinja", row=Row.of(one))
        return shell.html("", 404)

    return routes


def _found(
    context: Context, entries: Sequence[Entry], q: str, skill: str, status: str
) -> list[Entry]:
    """Return what the list shows: by words the best first, else the greatest regret first."""
    passing = chosen(entries, skill=skill, status=status)
    if not q:
        return passing
    by_id = {one.id: one for one in passing}
    return [by_id[one] for one in context.search(q, SEARCHED) if one in by_id]


def _skills(entries: Sequence[Entry]) -> list[str]:
    return sorted({skill for one in entries for skill in one.skills})
