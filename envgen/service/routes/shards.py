"""Shards and the designs in them. Every call reads the store in a thread."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Query

from envgen.service import models
from envgen.service.models import Page
from envgen.service.state import Name, Part, Service, ShardFilter, absent, answers
from memory import DesignRecord
from memory.schema import from_table
from memory.tables import quoted
from spadekit.errors import BadInput


def router(service: Service) -> APIRouter:
    """Return the calls about shards and designs."""
    store = service.opened.store
    routes = APIRouter()

    @routes.get("/shards", tags=["shards"], responses=answers())
    def list_shards(part: Part) -> Page[models.Shard]:
        """List shards, the newest first."""
        heads = store.shards()[::-1]
        items = [models.Shard.of(head) for head in part.of(heads)]
        return Page(items=items, total=len(heads), offset=part.offset, limit=part.limit)

    @routes.get("/shards/{number}", tags=["shards"], responses=answers(404))
    def show_shard(number: Annotated[int, Path(ge=1, le=999_999)]) -> models.Shard:
        """Show one shard's manifest and figures."""
        heads = [head for head in store.shards() if head.shard == number]
        if not heads:
            raise HTTPException(404, f"there is no shard {number}")
        return models.Shard.of(heads[0])

    @routes.get("/designs", tags=["designs"], responses=answers())
    def list_designs(
        part: Part,
        shard: ShardFilter = None,
        outcome: Annotated[models.Outcome | None, Query(description="Only this outcome.")] = None,
        stage: Annotated[
            str, Query(pattern=r"^[a-z_]{0,32}$", description="Only those that fell at this stage.")
        ] = "",
    ) -> Page[models.DesignSummary]:
        """List designs, valid or not, without their texts: by shard, then id."""
        parts = [f"shard = {shard}"] if shard is not None else []
        parts += [f"outcome = {quoted(outcome)}"] if outcome else []
        parts += [f"stage = {quoted(stage)}"] if stage else []
        rows = store.scan("designs", " AND ".join(parts), ["id", "shard"])
        rows = rows.sort_by([("shard", "ascending"), ("id", "ascending")])
        ids = rows.column("id").to_pylist()
        wanted = part.of(ids)
        found = {}
        if wanted:
            listed = ", ".join(map(quoted, wanted))
            records = from_table(DesignRecord, store.scan("designs", f"id IN ({listed})"))
            found = {one.id: one for one in records}
        items = [models.DesignSummary.of(found[one]) for one in wanted if one in found]
        return Page(items=items, total=len(ids), offset=part.offset, limit=part.limit)

    @routes.get("/designs/{name}", tags=["designs"], responses=answers(404))
    def show_design(name: Name) -> models.Design:
        """Show one design: its brief and text, and what became of it."""
        try:
            return models.Design.of(store.design(name))
        except BadInput as error:
            raise absent(error) from error

    return routes
