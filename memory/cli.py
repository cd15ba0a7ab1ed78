"""Commands that look into the memory: search, show, stats, shards."""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from memory import monitors, upkeep
from memory.diversity import Decision
from memory.lineage import Lineage
from memory.schema import DesignRecord, EnvironmentRecord, StandingRecord
from memory.search import Hit, check_range, parse_band, status_of
from memory.shards import MALFORMED, Manifest
from memory.stats import BINS, Funnel, Stats, passed
from memory.store import NotThere, Store
from memory.tables import quoted
from memory.upkeep import open_store
from memory.variety import alarm
from spadekit.cli import Session, command, session
from spadekit.errors import BadInput
from spadekit.report import Report

_FEW_BARS = 40  # characters of the longest bar of a histogram

SHARD_COLUMNS = (
    *("shard", "policy", "environments", "designs", "duplicates", "plays"),
    *("Vendi / n", "nearest", "monitors", "created", "content"),
)
SPARE_OF_SHARDS = ("content", "created", "nearest", "duplicates", "monitors")

_CERTIFIED = {
    "made": "here",
    "believed": "by whoever published it: believed (--trust), not checked here",
    "confirmed": "by whoever published it, and here again with the same facts",
}

Named = Callable[[str], Mapping[str, Any] | None]
"""Finds by name what is in no store, for ``show``; None when it does not know the name."""


def register(app: typer.Typer, named: Named) -> None:
    """Add the commands to the front door; ``show`` asks ``named`` before it opens the store."""

    @command(app, "show")
    def show(
        ctx: typer.Context,
        name: Annotated[
            str, typer.Argument(metavar="ENV|DESIGN|SEED", help="Its id, how it starts, or a name.")
        ],
        why: Annotated[bool, typer.Option("--why", help="Why it was admitted or refused.")] = False,
    ) -> None:
        """Show an environment or a design with everything known about it."""
        here = session(ctx)
        if found := named(name):
            _show_named(here.report, found)
        else:
            _show(here, name, why)

    command(app, "search")(_search)
    command(app, "stats")(_stats)
    command(app, "shards")(_shards)
    upkeep.register(app)


def _search(
    ctx: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(help="What it is about.")] = None,
    *,
    skill: Annotated[str, typer.Option(help="Only this skill.")] = "",
    setting: Annotated[str, typer.Option(help="game or tool_use.")] = "",
    regret: Annotated[str, typer.Option(metavar="LO..HI", help="Range of the regret.")] = "",
    episode_return: Annotated[
        str, typer.Option("--return", metavar="LO..HI", help="Range of the unhinted return.")
    ] = "",
    status: Annotated[
        str, typer.Option(help="frontier, mastered, hopeless, hint_only or unmeasured.")
    ] = "",
    shard: Annotated[int | None, typer.Option(help="Only this shard.")] = None,
    like: Annotated[str, typer.Option(metavar="ENV", help="Neighbours of an environment.")] = "",
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, max=10_000)] = 10,
) -> None:
    """Find environments by meaning and words."""
    here = session(ctx)
    with open_store(here) as store:
        check_range("shard", shard)
        if shard is not None:
            store.manifest(
                shard
            )  # that nothing is in a shard and that there is none are two things
        _announce_embedding(here.report, store)
        hits = store.search(
            " ".join(words or ()).encode("utf-8", "replace").decode("utf-8"),
            setting=setting,
            skill=skill,
            regret=parse_band(regret),
            episode_return=parse_band(episode_return),
            status=status,
            shard=shard,
            like=like,
            limit=limit,
        )
    if here.report.as_json:
        here.report.data([_hit(hit) for hit in hits])
    elif hits:
        columns = ("id", "title", "skills", "status", "regret", "return", "policy", "shard")
        rows = []
        for hit in hits:
            row = _hit(hit)
            rows.append({**row, "id": row["id"][:8], "policy": row["policy_version"]})
        shown = [[row[column] for column in columns] for row in rows]
        here.report.table("", columns, shown, spare=("policy", "shard", "skills"))
    else:
        here.report.note("nothing found; loosen a filter, or `spadework stats` shows what is there")
    if not hits:
        raise typer.Exit(1)


def _show(here: Session, name: str, why: bool) -> None:
    with open_store(here) as store:
        environment, design = _find(store, name)
        if environment is not None:
            _show_environment(here.report, environment, store, why)
        else:
            assert design is not None
            _show_design(here.report, design, store, why)


def _stats(
    ctx: typer.Context,
    funnel: Annotated[bool, typer.Option("--funnel", help="Only where designs were lost.")] = False,
) -> None:
    """Count what the memory holds: skills by status, regret, growth and variety per shard."""
    here = session(ctx)
    with open_store(here) as store:
        numbers = store.numbers()
        if funnel:
            _show_funnel(here.report, store.funnel())
        else:
            _announce_embedding(here.report, store)
            _show_stats(here.report, store.stats())
    if not numbers:
        raise typer.Exit(1)


def _shards(ctx: typer.Context) -> None:
    """List the published shards, and how varied they are."""
    here = session(ctx)
    with open_store(here) as store:
        found = store.shards()
    rows = [_shard_row(one) for one in found]
    if here.report.as_json:
        here.report.data(rows)
    elif rows:
        shown = [[*{**row, "content": row["content"][:12]}.values()] for row in rows]
        here.report.table("", SHARD_COLUMNS, shown, spare=SPARE_OF_SHARDS)
    else:
        here.report.note("no shards yet; `spadework generate` publishes the first")
    for one in found:
        if _variety(one).get("collapsed"):
            share = _variety(one)["vendi_share"]
            here.report.error(alarm(one.shard, share, one.rows("environments")))
        for line in monitors.alarms(one.meta):
            here.report.error(line)
    if not rows:
        raise typer.Exit(1)


def _shard_row(manifest: Manifest) -> dict[str, Any]:
    """Return a shard as ``--json`` prints it; tables show the same in the same order."""
    return {
        "shard": manifest.shard,
        "policy_version": manifest.policy_version,
        **{name: manifest.rows(name) for name in ("environments", "designs")},
        "duplicates": manifest.meta.get("duplicates"),
        "plays": manifest.rows("plays"),
        "vendi_share": _variety(manifest).get("vendi_share"),
        "nearest_median": _variety(manifest).get("nearest_median"),
        "monitors": monitors.line(manifest.meta),
        "created": manifest.created,
        "content": manifest.content,
    }


def _variety(manifest: Manifest) -> dict[str, Any]:
    """Return what a round measured of its shard's variety; imported shards have no such figures."""
    return dict(manifest.meta.get("variety") or {})


def _announce_embedding(report: Report, store: Store) -> None:
    if count := store.unembedded():
        report.note(f"embedding {count} new environments (once)")


def _find(store: Store, name: str) -> tuple[EnvironmentRecord | None, DesignRecord | None]:
    try:
        return store.environment(name), None
    except NotThere:
        pass
    try:
        return None, store.design(name)
    except NotThere:
        told = f"no environment or design {name} in the store; `spadework search` shows ids"
        raise NotThere(told) from None


def _show_named(report: Report, found: Mapping[str, Any]) -> None:
    if report.as_json:
        report.data(dict(found))
        return
    report.record("", {key: value for key, value in found.items() if key != "source"})
    report.text(found["source"])


def _show_environment(report: Report, record: EnvironmentRecord, store: Store, why: bool) -> None:
    decision = _decision(record.decision)
    explanation = decision.explanation if decision else ""
    if why and not report.as_json:
        shown = {"id": record.id, "title": record.title, "shard": record.shard}
        report.record("environment", shown | _why(decision, store))
        return
    history = [_standing(one) for one in store.standings(record.id)]
    family = store.lineage(record)
    origin = _origin(record, store)
    values = dataclasses.asdict(record)
    if report.as_json:
        lineage = dataclasses.asdict(family)
        told = {"standings": history, "why": explanation, "origin": origin}
        report.data({**values, **told, **lineage})
        return
    long = ("source", "certificate", "decision", "tools", "parents")
    shown = {key: value for key, value in values.items() if key not in long and value != ""}
    if origin:
        shown["imported from"] = " ".join(
            filter(None, map(origin.get, ("uri", "release", "place")))
        )
        if certificate := origin.get("certificate"):
            shown["certified"] = _CERTIFIED.get(certificate, certificate)
    report.record("environment", shown)
    if checks := _checks(record.certificate):
        report.table("certificate", ("check", "verdict", "what was found"), checks)
    if history:
        columns = tuple(history[0])
        shown_rows = [list(row.values()) for row in history]
        report.table("standings", columns, shown_rows, spare=("hinted plays", "plays"))
    if rows := _relatives(family):
        report.table("lineage", ("relation", "generations", "id", "title", "shard"), rows)
    report.text(record.source)


def _checks(certificate: str) -> list[tuple[str, str, str]]:
    """Return (check, verdict, message) of a certificate; none of one that is not ours to read."""
    try:
        return [
            (str(one["name"]), str(one["verdict"]), str(one.get("message", "")))
            for one in json.loads(certificate)["checks"]
        ]
    except MALFORMED:
        return []


def _origin(record: EnvironmentRecord, store: Store) -> dict[str, str]:
    """Return the pool that an environment was imported from and its place there; empty: from none.

    ``release`` is the tag of a release, ``certificate`` one of ``_CERTIFIED``: the last that was made of
    it, since what came with ``--trust`` may have been certified by a later import.
    """
    try:
        brief = json.loads(store.design(record.design).brief)
        if "uri" not in brief:
            return {}
        rows = store.scan("designs", f"environment = {quoted(record.id)}", ["shard", "brief"])
        for row in rows.sort_by("shard").to_pylist():
            told = json.loads(row["brief"])
            if "certificate" in told:
                brief["certificate"] = told["certificate"]
        kept = ("uri", "place", "release", "certificate")
        return {key: str(brief[key]) for key in kept if key in brief}
    except (BadInput, *MALFORMED):
        return {}  # its design is not in this store


def _relatives(family: Lineage) -> list[tuple[Any, ...]]:
    return [
        (relation, one.generations, one.id[:8], one.title or "(not in this store)", one.shard)
        for relation, relatives in (
            ("ancestor", family.ancestors),
            ("descendant", family.descendants),
        )
        for one in relatives
    ]


def _why(decision: Decision | None, store: Store) -> dict[str, Any]:
    """Return the measured similarities beside their thresholds."""
    if decision is None:
        return {"decision": "none recorded: it was not admitted through the diversity filter"}
    limits = decision.thresholds
    shown: dict[str, Any] = {
        "decision": "admitted" if decision.accepted else f"refused: {decision.stage}",
        "why": decision.explanation,
        "nearest in structure": _named(decision.nearest, store),
        "its Jaccard": f"{decision.similarity:.3f} (a variant from {limits.jaccard:.2f} on)",
    }
    if decision.novelty is not None:
        shown["nearest in meaning"] = _named(decision.nearest_meaning, store)
        shown["its cosine"] = f"{1.0 - decision.novelty:.3f} (not new from {limits.cosine:.2f} on)"
    return shown


def _named(environment: str, store: Store) -> str:
    if not environment:
        return "none: nothing shares a MinHash band"
    try:
        return f"{environment} {store.environment(environment).title}"
    except BadInput:
        return environment  # it was refused itself, or belongs to the same round


def _show_design(report: Report, record: DesignRecord, store: Store, why: bool) -> None:
    decision = None
    if record.environment and record.outcome == "admitted":
        decision = _decision(store.environment(record.environment).decision)
    refusal = ": ".join(filter(None, (record.stage, record.reason, record.detail)))
    reason = decision.explanation if decision else refusal
    tokens = ("prompt_ids", "ids", "logprobs")
    values = {k: v for k, v in dataclasses.asdict(record).items() if k not in tokens}
    values["reward"] = _number(record.reward)
    values["tokens"] = len(record.ids)
    if report.as_json:
        report.data({**values, "why": reason})
        return
    if why:
        shown = {"id": record.id, "outcome": record.outcome, "environment": record.environment}
        details = _why(decision, store) if decision else {"why": reason or "-"}
        report.record("design", shown | details)
        return
    values.pop("text")
    report.record("design", {key: value for key, value in values.items() if value != ""})
    report.text(record.text)


def _decision(text: str) -> Decision | None:
    try:
        return Decision.from_json(text)
    except MALFORMED:
        return None  # imported environments carry no decision of ours


def _show_stats(report: Report, found: Stats) -> None:
    if report.as_json:
        report.data(_stats_json(found))
        return
    statuses = sorted({status for counts in found.skills.values() for status in counts})
    rows = [
        [skill or "(none)", *(counts.get(status, 0) for status in statuses)]
        for skill, counts in found.skills.items()
    ]
    report.table(f"{found.environments} environments", ["skill", *statuses], rows)
    top = max((*found.regret, 1))
    lines = [
        f"{low:+.1f} .. {high:+.1f}  {'█' * math.ceil(_FEW_BARS * count / top)} {count}"
        for low, high, count in zip(BINS, BINS[1:], found.regret, strict=False)
        if count
    ]
    report.text("\n".join(["regret", *lines]))
    columns = (
        *("shard", "policy", "designs", "admitted", "duplicates", "regret", "Vendi / n"),
        "monitors",
    )
    report.table(
        "growth",
        columns,
        [
            (
                one.shard,
                one.policy_version,
                one.designs,
                one.environments,
                one.duplicates,
                one.mean_regret,
                one.vendi_share,
                one.monitors,
            )
            for one in found.shards
        ],
        spare=("duplicates", "policy", "designs"),
    )
    for line in found.alarms:
        report.error(line)


def _show_funnel(report: Report, funnel: Funnel) -> None:
    if report.as_json:
        report.data(_funnel_json(funnel))
        return
    report.table("stages", ("stage", "fell", "left"), passed(funnel))
    lost = [(*key, count) for key, count in funnel.items()]
    report.table("funnel", ("outcome", "stage", "reason", "designs"), lost)


def _stats_json(found: Stats) -> dict[str, Any]:
    values = dataclasses.asdict(found)
    values["regret"] = {
        "edges": list(BINS),
        "counts": list(found.regret),
    }
    values["alarms"] = list(found.alarms)
    return values | _funnel_json(found.funnel)


def _funnel_json(funnel: Funnel) -> dict[str, Any]:
    return {
        "stages": [
            {"stage": stage, "fell": fell, "left": left} for stage, fell, left in passed(funnel)
        ],
        "funnel": [
            {"outcome": outcome, "stage": stage, "reason": reason, "designs": count}
            for (outcome, stage, reason), count in funnel.items()
        ],
    }


def _hit(hit: Hit) -> dict[str, Any]:
    record, standing = hit.environment, hit.standing
    return {
        "id": record.id,
        "title": record.title,
        "description": record.description,
        "setting": record.setting,
        "skills": list(record.skills),
        "status": status_of(standing),
        "regret": _number(standing.regret if standing else None),
        "return": _number(standing.return_unhinted if standing else None),
        "policy_version": standing.policy_version if standing else None,
        "shard": record.shard,
        "similarity": _number(hit.similarity),
        "score": hit.score,
    }


def _standing(record: StandingRecord) -> dict[str, Any]:
    return {
        "policy": record.policy_version,
        "status": record.status,
        "plays": record.plays_unhinted,
        "return": _number(record.return_unhinted),
        "hinted plays": record.plays_hinted,
        "hinted return": _number(record.return_hinted),
        "regret": _number(record.regret),
        "low": _number(record.regret_low),
        "high": _number(record.regret_high),
    }


def _number(value: float | None) -> float | None:
    """JSON knows no nan."""
    return None if value is None or math.isnan(value) else value
