"""Writing a release into a folder: the rows of its shards, the card, the sums.

A release is made from the files of its shards, never from what was measured later. The same shards are
the same rows whenever and wherever it is built, as long as the recipe, the lists of questions that are
installed and the corpus are the same, and the solutions play. That is what lets an interrupted upload
go on, and a tag be checked.
"""

import itertools
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa

from envgen.certificate import code_digest
from envgen.corpus import CorpusConfig
from envgen.publish import card, manifest, plots, rows
from envgen.publish.benchmarks import List, read_lists
from envgen.publish.config import PublishConfig
from envgen.publish.documents import Documents
from envgen.publish.manifest import ReleaseManifest
from envgen.publish.origins import believed, benchmark, origins
from envgen.publish.overlap import Held, told_by
from envgen.publish.rows import Solution, environment_row
from envgen.publish.scan import Finding, Machine, Text, scan, strings
from envgen.publish.solutions import solutions
from memory import EnvironmentRecord, Manifest, StandingRecord, Store, record_id
from memory.schema import from_table
from sandbox import Sandbox
from spadekit.errors import BadInput
from spadekit.report import Report


@dataclass(frozen=True)
class Request:
    """What is to be released, and what is known beside it."""

    name: str  # USER/NAME
    tag: str
    shards: Sequence[Manifest]
    config: PublishConfig
    corpus: CorpusConfig
    machine: Machine
    allowed: Collection[str] = ()
    parallel: int = 2
    kept: Path | None = None  # the folder of the corpus' index


@dataclass
class Summary:
    """What the card and the plan tell: figures of the kept rows, and what was left out and why."""

    environments: list[Mapping[str, Any]] = field(default_factory=list)  # KEPT, and what it has
    funnel: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    held: dict[str, Held] = field(default_factory=dict)  # environment -> the question it holds
    unplayed: dict[str, str] = field(default_factory=dict)  # environment -> what its solution did
    lists: tuple[List, ...] = ()
    origins: Counter[str] = field(default_factory=Counter)  # address -> imported environments
    believed: int = 0  # of those: taken with the certificate that they came with
    plays_in_shards: int = 0
    documents: Counter[str] = field(default_factory=Counter)  # licence -> documents that go along
    documents_left: int = 0
    documents_ambiguous: int = 0  # of those left: their id stands for several texts
    alarms: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Built:
    """A release in a folder. With findings that are ``blocked`` it must not leave."""

    manifest: ReleaseManifest
    summary: Summary
    blocked: tuple[Finding, ...]


KEPT = (
    "id",
    "title",
    "setting",
    "skills",
    "status",
    "regret",
    "return_unhinted",
    "return_hinted",
    "turns",
    "isolation",
    "policy_version",
    "measured_by",
    "document",
)


async def build(
    folder: Path, request: Request, store: Store, sandbox: Sandbox, report: Report
) -> Built:
    """Write the release into an empty folder.

    Raises ``BadInput`` when nothing is left to release, ``SandboxFault`` when nothing can be played
    here. What blocks a release is no error: all of it is found before anybody is told.
    """
    work = _Work(folder, request, store)
    total = sum(head.rows("environments") for head in request.shards)
    with report.progress() as progress:
        bar = progress.add_task("solutions played", total=total, note="")
        for head in request.shards:
            records = work.new(head)
            played = await solutions(
                records, sandbox, request.parallel, lambda: progress.advance(bar)
            )
            work.shard(head, records, played)
    return work.finish()


class _Work:
    """A release on its way into a folder, shard by shard."""

    def __init__(self, folder: Path, request: Request, store: Store) -> None:
        self.folder, self.request, self.store = folder, request, store
        self.config = request.config
        self.questions, lists = read_lists(self.config.benchmarks)
        heads = [
            (store.member(head, "environments"), store.member(head, "designs"))
            for head in request.shards
        ]
        self.documents = Documents(
            heads, request.corpus, self.config.document_licences, request.kept
        )
        self.summary = Summary(lists=lists)
        self.counts: dict[str, int] = {}
        self._contents: dict[str, str] = {}
        self._seen: set[str] = set()
        self._believed = believed(designs for _, designs in heads)

    def new(self, head: Manifest) -> list[EnvironmentRecord]:
        """Return the environments of a shard that no shard before it had."""
        table = self.store.member(head, "environments")
        records = [one for one in from_table(EnvironmentRecord, table) if one.id not in self._seen]
        self._seen.update(one.id for one in records)
        return records

    def shard(
        self, head: Manifest, records: Sequence[EnvironmentRecord], played: Sequence[Solution]
    ) -> None:
        """Write the tables of one shard, looked through."""
        summary = self.summary
        standings = _standings(self.store, head)
        designs = self.store.member(head, "designs")
        imported = origins(designs)
        summary.funnel.update(_funnel(designs))
        summary.alarms += (head.meta.get("monitors") or {}).get("alarms") or ()
        kept = []
        for record, solution in zip(records, played, strict=True):
            if solution.fault:
                summary.unplayed[record.id] = solution.fault
                continue
            licence = self.documents.licence(record)
            origin = imported.get(record.id)
            row = environment_row(record, standings.get(record.id), solution, licence, origin)
            if self._held(row, benchmark(origin)):
                continue
            kept.append(row)
            if origin:
                summary.origins[origin.shown] += 1
                summary.believed += record.id in self._believed
        place = self._save("environments", f"shard-{head.shard:06d}", kept)
        self._look(text for row in kept for text in _texts(place, row))
        self.documents.want(kept)
        summary.environments += [
            {name: row[name] for name in KEPT}
            | {"hinted": bool(row["hint"]), "solved": bool(row["solution"])}
            | {"imported": row["id"] in imported}
            for row in kept
        ]
        if self.config.plays:
            plays = _plays(self.store, head, {row["id"] for row in kept}, self.config)
            summary.plays_in_shards += head.rows("plays")
            place = self._save("plays", f"shard-{head.shard:06d}", plays)
            self._look(
                Text(f"play {one['id']}", name, strings(one[name]), place)
                for one in plays
                for name in ("transcript", "fault")
            )

    def finish(self) -> Built:
        """Write what belongs to the whole release. Raises ``BadInput`` when it would be empty."""
        request, folder = self.request, self.folder
        if not self.summary.environments:
            raise BadInput(_nothing(request, self.summary))
        documents, left = self.documents.going(), self.documents.left()
        self.summary.documents.update(one["licence"] for one in documents)
        self.summary.documents_left, self.summary.documents_ambiguous = left
        if documents:
            place = self._save("documents", "documents", documents)
            self._look(
                Text(f"document {one['id']}", name, one[name], place)
                for one in documents
                for name in ("title", "text")
            )
        self._drop_empty("plays")
        (folder / "envkit.py").write_bytes((files("sandbox") / "envkit.py").read_bytes())
        pictures = plots.draw(folder / "plots", self.summary.environments)
        text = card.render(request, self.summary, self.counts, pictures)
        (folder / "README.md").write_text(text, encoding="utf-8")
        contents = itertools.chain(*sorted(self._contents.items()))
        made = manifest.write(
            folder,
            tag=request.tag,
            content=record_id("release", self.config.licence, *contents),
            version=version("spadework"),
            created=max(head.created for head in request.shards),
            shards={head.shard: head.digest for head in request.shards},
            checks=code_digest(),
            rows=self.counts,
        )
        blocked = (one for one in self.summary.findings if one.blocks)
        return Built(
            made, self.summary, tuple(one for one in blocked if one.id not in request.allowed)
        )

    def _save(self, table: str, name: str, found: Sequence[Mapping[str, Any]]) -> str:
        made = rows.to_table(table, found)
        place = f"{table}/{name}.parquet"
        (self.folder / table).mkdir(exist_ok=True)
        rows.write(self.folder / place, made)
        self.counts[place], self._contents[place] = made.num_rows, rows.content_digest(made)
        return place

    def _drop_empty(self, table: str) -> None:
        """Remove a table without any row: nothing loads a split of nothing."""
        places = [place for place in self.counts if place.startswith(f"{table}/")]
        if not sum(self.counts[place] for place in places):
            shutil.rmtree(self.folder / table, ignore_errors=True)
            for place in places:
                del self.counts[place], self._contents[place]

    def _held(self, row: Mapping[str, Any], task: str) -> bool:
        """Whether a row stays for a benchmark's question that it holds; either way it is told.

        ``task``: the benchmark's task that it was made from, "" for any other environment.
        """
        held = None
        if task.partition(":")[0] in self.config.benchmarks:
            held = Held(task, 1.0)
        elif len(self.questions):
            text = told_by(row["source"], row["hint"], row["solution"])
            held = self.questions.held(text, self.config.overlap)
        if held is not None:
            self.summary.held[row["id"]] = held
        return held is not None and self.config.contaminated == "leave out"

    def _look(self, texts: Iterable[Text]) -> None:
        self.summary.findings += scan(texts, self.request.machine)


def _standings(store: Store, head: Manifest) -> dict[str, StandingRecord]:
    found = from_table(StandingRecord, store.member(head, "standings"))
    found.sort(key=lambda one: (one.policy_version, one.updated))
    return {one.environment: one for one in found}


def _funnel(designs: pa.Table) -> Counter[tuple[str, str, str]]:
    table = designs.select(["outcome", "stage", "reason"])
    return Counter((row["outcome"], row["stage"], row["reason"]) for row in table.to_pylist())


def _plays(
    store: Store, head: Manifest, ids: Collection[str], config: PublishConfig
) -> list[dict[str, Any]]:
    """Return the plays of a shard that go along: a few of each environment and arm, or all."""
    table = store.member(head, "plays").select(rows.PLAY_COLUMNS)
    found = [{**row, "shard": head.shard} for row in table.to_pylist() if row["environment"] in ids]
    if config.plays < 0:
        return found
    drawn = sorted(found, key=lambda row: record_id("draw", config.seed, row["id"]))
    taken: Counter[tuple[str, str]] = Counter()
    chosen = set()
    for row in drawn:
        key = (row["environment"], row["arm"])
        taken[key] += 1
        if taken[key] <= config.plays:
            chosen.add(row["id"])
    return [row for row in found if row["id"] in chosen]


def _texts(place: str, row: Mapping[str, Any]) -> Iterator[Text]:
    for name, value in row.items():
        if isinstance(value, str) and value:
            owner, program = f"environment {row['id']}", name == "source"
            yield Text(owner, name, value if program else strings(value), place, program)


def _nothing(request: Request, summary: Summary) -> str:
    told = []
    if summary.held:
        name, held = next(iter(summary.held.items()))
        told.append(
            f"{len(summary.held)} hold questions of benchmarks ({name}: {held.question}), see [publish] "
            "benchmarks and contaminated"
        )
    if summary.unplayed:
        name, fault = next(iter(summary.unplayed.items()))
        told.append(
            f"the certified solutions of {len(summary.unplayed)} do not play as they did ({name}: {fault})"
        )
    if told:
        return f"all environments are left out: {'; '.join(told)}"
    listed = ", ".join(str(head.shard) for head in request.shards[:12])
    return f"the shards {listed} hold no environment: nothing to release"
