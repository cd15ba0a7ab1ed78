"""Environments: list, show, plays, search. Every call reads the store in a thread."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import StringConstraints

from envgen.service import models
from envgen.service.models import Page
from envgen.service.state import Name, Part, Service, ShardFilter, absent, answers
from memory import EnvironmentRecord, Store
from memory.diversity import Decision
from memory.search import check_skill, filters, status_of
from spadekit.errors import BadInput

Skill = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_ \-]{0,64}$")]
Words = Annotated[str, StringConstraints(max_length=1000, pattern=r"^[^\x00]*$")]
SettingFilter = Annotated[models.Setting | None, Query(description="Only this setting.")]
StatusFilter = Annotated[
    models.Status | None, Query(description="Only this status in the newest figures.")
]
SkillFilter = Annotated[Skill, Query(description="Only with this skill.")]
Bound = Annotated[float, Query(ge=-1, le=1)]
Most = Annotated[int, Query(ge=1, le=100, description="Return at most so many.")]


def router(service: Service) -> APIRouter:
    """Return the calls about environments."""
    store = service.opened.store
    routes = APIRouter(tags=["environments"])

    @routes.get("/environments", responses=answers(404))
    def list_environments(
        part: Part,
        setting: SettingFilter = None,
        skill: SkillFilter = "",
        status: StatusFilter = None,
        shard: ShardFilter = None,
    ) -> Page[models.EnvironmentSummary]:
        """List environments by shard, then id, without their sources."""
        latest = store.latest_standings()
        rows = store.scan("environments", filters(setting or "", skill, shard), ["id", "shard"])
        if skill and not rows.num_rows:
            _known_skill(store, skill)
        rows = rows.sort_by([("shard", "ascending"), ("id", "ascending")])
        ids = rows.column("id").to_pylist()
        if status:
            ids = [one for one in ids if status_of(latest.get(one)) == status]
        found = store.environments(ids=part.of(ids))
        items = [models.EnvironmentSummary.of(one, latest.get(one.id)) for one in found]
        return Page(items=items, total=len(ids), offset=part.offset, limit=part.limit)

    @routes.get("/environments/{name}", responses=answers(404))
    def show_environment(name: Name) -> models.Environment:
        """Show one environment: source, hint, certificate, figures, lineage."""
        record = _environment(store, name)
        why = Decision.from_json(record.decision).explanation if _decided(record) else ""
        return models.environment(record, store.standings(record.id), store.lineage(record), why)

    @routes.get("/environments/{name}/plays", responses=answers(404))
    def list_plays(name: Name, part: Part) -> Page[models.Play]:
        """List its plays with their transcripts: its shard's first, then by policy version."""
        plays = store.plays(_environment(store, name).id)
        items = [models.Play.of(one) for one in part.of(plays)]
        return Page(items=items, total=len(plays), offset=part.offset, limit=part.limit)

    @routes.get("/environments/{name}/neighbours", responses=answers(404))
    def neighbours(name: Name, limit: Most = 10) -> list[models.Found]:
        """Find the environments that are most like one in meaning."""
        hits = store.search(like=_environment(store, name).id, limit=limit)
        return [models.Found.of(hit) for hit in hits]

    @routes.get("/search", responses=answers(404))
    def search(
        q: Annotated[Words, Query(description="Words; matched by meaning and by word.")] = "",
        setting: SettingFilter = None,
        skill: SkillFilter = "",
        status: StatusFilter = None,
        shard: ShardFilter = None,
        regret_from: Bound = -1.0,
        regret_to: Bound = 1.0,
        return_from: Bound = -1.0,
        return_to: Bound = 1.0,
        limit: Most = 10,
    ) -> list[models.Found]:
        """Find environments by meaning and words.

        Without words, whatever passes the filters, greatest regret first. The ranges are inclusive
        and of the newest figures; environments without figures lie in none but the full range.
        """
        if regret_from > regret_to or return_from > return_to:
            return []
        try:
            hits = store.search(
                q,
                setting=setting or "",
                skill=skill,
                status=status or "",
                shard=shard,
                regret=_band(regret_from, regret_to),
                episode_return=_band(return_from, return_to),
                limit=limit,
            )
        except BadInput as error:
            raise absent(error) from error
        return [models.Found.of(hit) for hit in hits]

    return routes


def _environment(store: Store, name: str) -> EnvironmentRecord:
    try:
        return store.environment(name)
    except BadInput as error:
        raise absent(error) from error


def _known_skill(store: Store, skill: str) -> None:
    try:
        check_skill(skill, store.skills())
    except BadInput as error:
        raise absent(error) from error


def _decided(record: EnvironmentRecord) -> bool:
    return record.decision.startswith('{"accepted"')


def _band(low: float, high: float) -> tuple[float, float] | None:
    return None if (low, high) == (-1.0, 1.0) else (low, high)
