"""One environment: what it is, why it is sound, how it stands, its plays and its kin."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import HTMLResponse

from envgen.service import models
from envgen.service.pages import shell, views
from envgen.service.pages.context import Context
from envgen.service.pages.words import ROLES
from envgen.service.state import Name
from memory import EnvironmentRecord
from memory.tables import any_of, quoted

LISTED = ["id", "seed", "arm", "purpose", "episode_return", "turns", "fault", "policy_version"]
PAIRS = 48
KIN = 6
MESSAGES = 60
"""Messages of one play that a page shows."""
PairKey = Annotated[str, Query(pattern=r"^[0-9]{0,9}(-[0-9]{1,20}-[0-9]{1,4})?$", max_length=40)]


def router(context: Context) -> APIRouter:
    """Return the page and the parts of it that come later."""
    store = context.service.opened.store
    routes = APIRouter(include_in_schema=False)

    @routes.get("/environment/{name}")
    def environment(name: Name) -> HTMLResponse:
        record = _found(context, name)
        standings = store.standings(record.id)
        family = store.lineage(record)
        newest = standings[-1] if standings else None
        return shell.page(
            "environment.jinja",
            here="",
            record=record,
            regret=views.Regret.of(newest),
            newest=models.Standing.of(newest) if newest else None,
            standings=[models.Standing.of(one) for one in reversed(standings)],
            checks=views.checks(record.certificate),
            code=views.highlighted(record.source),
            ancestors=family.ancestors[:KIN],
            descendants=family.descendants[:KIN],
            more_kin=len(family.descendants) - KIN,
        )

    @routes.get("/environment/{name}/plays")
    def plays(name: Name, pair: PairKey = "") -> HTMLResponse:
        record = _found(context, name)
        where = f"environment = {quoted(record.id)}"
        pairs = views.pairs(store.scan("plays", where, LISTED).to_pylist())[:PAIRS]
        chosen = next((one for one in pairs if one.key == pair), pairs[0] if pairs else None)
        return shell.page(
            "environment_plays.jinja",
            record=record,
            pairs=pairs,
            chosen=chosen,
            talks=_talks(context, chosen) if chosen else {},
            roles=ROLES,
            most=MESSAGES,
        )

    @routes.get("/environment/{name}/near")
    def near(name: Name) -> HTMLResponse:
        hits = context.near(_found(context, name).id, KIN)
        return shell.page("environment_near.jinja", hits=hits, searchable=context.searchable)

    return routes


def _found(context: Context, name: str) -> EnvironmentRecord:
    record = context.environment(name)
    if record is None:
        raise HTTPException(
            404, f"There is no environment {name}, or that is the start of several ids."
        )
    return record


def _talks(context: Context, pair: views.Pair) -> dict[str, list[models.Turn]]:
    """Return the transcripts of a pair by arm: they alone are read, not the tokens."""
    ids = [str(one["id"]) for one in (pair.unhinted, pair.hinted) if one]
    found = context.service.opened.store.scan(
        "plays", any_of("id", ids), ["id", "arm", "transcript"]
    )
    return {row["arm"]: models.turns(row["transcript"]) for row in found.to_pylist()}
