"""Importing a pool: certify every candidate, keep the diverse ones, publish them as one shard.

Each certificate is a line of a journal that stays, whatever the pool: nothing is certified twice by the
same checks under the same limits, neither after a kill nor when a pool, or another one that shares
programs with it, is imported again. Only rows that are new are published: the same import once more
adds nothing.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from envgen.certificate import Certificate, certify, code_digest
from envgen.config import ProducerConfig
from envgen.measuring import retried
from envgen.pools.candidate import Candidate, Found, Unusable
from envgen.skills import setting_of
from envgen.summary import summarise
from memory import DesignRecord, EnvironmentRecord, Store, environment_id, record_id
from memory.diversity import Decision, DiversityFilter, tree_digest
from sandbox import Sandbox, SandboxConfig, SandboxFault, printable
from spadekit.errors import BadInput, OurFault
from spadekit.files import Journal
from spadekit.report import Report
from spadekit.settings import Settings
from spadekit.tasks import together

MOST_FAULTED = 0.25
"""An import with a larger share of candidates lost through faults of ours is given up."""
SETTINGS = ("game", "tool_use")


@dataclass(frozen=True)
class Pool:
    """What is imported. ``uri`` says where it is from, pinned where it can be.

    ``alike``: likeness of source says nothing and only the same behaviour makes a duplicate, be it that
    all its programs are one program with other data, or that they were compared before.
    ``asked``: the address with a tag that is meant to stay where it is, "" without one. ``note``: what
    whoever imports it should know.
    """

    uri: str
    read: Callable[[], Iterator[Found]]
    alike: bool = False
    asked: str = ""
    note: str = ""


@dataclass(frozen=True)
class Home:
    """Where an import goes: an open store and what belongs to it."""

    store: Store
    folder: Path
    run: str
    settings: Settings
    report: Report
    policy_version: int


@dataclass
class Entry:
    """One place of a pool on its way. ``outcome`` is admitted, refused, duplicate, known or faulted."""

    place: str
    candidate: Candidate | None = None
    certificate: Certificate | None = None
    decision: Decision | None = None
    outcome: str = ""
    stage: str = ""
    reason: str = ""
    detail: str = ""

    def end(self, outcome: str, stage: str, reason: str, detail: str) -> None:
        """Record what became of it."""
        self.outcome, self.stage, self.reason, self.detail = outcome, stage, reason, detail


@dataclass(frozen=True)
class Imported:
    """What an import came to. ``shard`` None: there was nothing new to publish."""

    uri: str
    shard: int | None
    entries: tuple[Entry, ...] = field(repr=False)
    seconds: float = 0.0

    def counts(self) -> dict[str, int]:
        """Return how many places ended in each outcome."""
        found = Counter(entry.outcome for entry in self.entries)
        return {name: found[name] for name in OUTCOMES}


OUTCOMES = ("admitted", "known", "duplicate", "refused", "faulted")


async def import_pool(pool: Pool, home: Home, sandbox: Sandbox) -> Imported:
    """Import a pool into a home; what is refused is kept with its reason.

    Raises ``BadInput`` for a pool that cannot be read, ``OurFault`` when the sandbox fails too often.
    """
    began = time.monotonic()
    _check_tag(pool, home.store)
    number = _next_shard(home)
    journal = Journal(_journal_path(home))
    try:
        with home.report.progress() as progress:
            bar = progress.add_task(f"reading {pool.uri}", total=None, note="")
            entries = _entries(pool, home.store, lambda: progress.advance(bar))
            waiting = [one for one in entries if not one.outcome]
            progress.update(bar, description="certified", total=len(waiting), completed=0)
            await _certify(waiting, journal, home, sandbox, lambda: progress.advance(bar))
            progress.update(bar, description="compared", total=len(waiting), completed=0)
            _decide(waiting, pool, home.store, lambda: progress.advance(bar))
        faulted = [one for one in entries if one.outcome == "faulted"]
        if len(faulted) > MOST_FAULTED * len(entries):
            raise OurFault(
                f"{len(faulted)} of {len(entries)} candidates could not be judged "
                f"({faulted[0].detail}); nothing was published, run it again to go on"
            )
        seconds = time.monotonic() - began
        shard = _publish(entries, pool, home, number, seconds)
    finally:
        journal.close()
    return Imported(pool.uri, shard, tuple(entries), seconds)


def _check_tag(pool: Pool, store: Store) -> None:
    """Refuse a tag that names another commit than when it was last imported here."""
    for manifest in store.shards() if pool.asked else ():
        if manifest.meta.get("asked") == pool.asked and manifest.meta.get("uri") != pool.uri:
            raise BadInput(
                f"{pool.asked}: the tag has moved since shard {manifest.shard} was imported from it "
                f"({manifest.meta['uri']}); if you trust who moved it, import {pool.uri}"
            )


def _next_shard(home: Home) -> int:
    """Return the number of the shard to come. Raises ``BadInput`` while a round of it is begun."""
    number = max((manifest.shard for manifest in home.store.shards()), default=0) + 1
    begun = home.folder / "runs" / home.run / "rounds" / f"{number:06d}.jsonl"
    if begun.exists():
        raise BadInput(
            f"round {number} of run `{home.run}` is begun and not finished: finish it first "
            f"(`spadework generate`), or give it up by removing {begun}, or import into another --home"
        )
    return number


def _journal_path(home: Home) -> Path:
    name = record_id("certificates", home.settings.digest_of(SandboxConfig), code_digest())
    return home.folder / "runs" / home.run / "imports" / f"{name}.jsonl"


def _entries(pool: Pool, store: Store, advance: Callable[[], None]) -> list[Entry]:
    """Read the pool; what cannot be judged or is known already is decided here."""
    known = set(store.tables.scan("environments", columns=["id"]).column("id").to_pylist())
    entries: list[Entry] = []
    seen: dict[tuple[str, str], str] = {}
    for found in pool.read():
        entry = Entry(printable(found.place))
        entries.append(entry)
        advance()
        if isinstance(found, Unusable):
            entry.end("refused", "read", found.reason, printable(found.detail))
            continue
        entry.candidate = found
        ids = [environment_id(setting, found.source, found.hint) for setting in SETTINGS]
        twin = seen.setdefault((found.source, found.hint), found.place)
        if same := next((one for one in ids if one in known), ""):
            entry.end("known", "diversity", "same", f"already in the memory as {same}")
        elif twin != found.place:
            entry.end("known", "diversity", "same", f"the same as {twin}, word for word")
    return entries


async def _certify(
    entries: Sequence[Entry],
    journal: Journal,
    home: Home,
    sandbox: Sandbox,
    advance: Callable[[], None],
) -> None:
    """Certify as many at once as the producer does; what the journal has is not done again."""
    done = {line["id"]: line["certificate"] for line in journal.entries}
    work = iter(entries)

    async def judge(entry: Entry) -> None:
        candidate = entry.candidate
        assert candidate is not None
        name = record_id("candidate", candidate.source, candidate.hint)
        if candidate.certificate:
            entry.certificate = Certificate.from_json(candidate.certificate)
            return
        if name in done:
            entry.certificate = Certificate.from_json(done[name])
            return
        try:
            entry.certificate = await retried(
                partial(certify, candidate.source, candidate.hint or None, sandbox)
            )
        except SandboxFault as fault:
            entry.end("faulted", "certificate", "sandbox", str(fault))
        else:
            journal.append({"id": name, "certificate": entry.certificate.as_json()})

    async def worker() -> None:
        for entry in work:
            await judge(entry)
            advance()

    await together(
        worker() for _ in range(home.settings.section(ProducerConfig).parallel_certificates)
    )


def _decide(
    entries: Sequence[Entry], pool: Pool, store: Store, advance: Callable[[], None]
) -> None:
    """Admit or refuse in the pool's order, so that which of two twins is the variant is settled."""
    known = store.diversity_filter()
    if pool.alike:
        known.thresholds = replace(known.thresholds, keep_variants=True)
    for entry in entries:
        advance()
        if entry.outcome:
            continue
        assert entry.certificate is not None
        failed = entry.certificate.failed
        if failed is not None:
            reason = str(failed.evidence.get("reason", failed.name))
            entry.end("refused", failed.name, reason, failed.message)
        else:
            _admit(entry, known)


def _admit(entry: Entry, known: DiversityFilter) -> None:
    candidate, certificate = entry.candidate, entry.certificate
    assert candidate is not None
    assert certificate is not None
    name = environment_id(certificate.setting, candidate.source, candidate.hint)
    entry.decision = known.decide(name, candidate.source, certificate.fingerprint)
    if entry.decision.accepted:
        known.add(name, candidate.source, certificate.fingerprint)
        entry.end("admitted", "", "", "")
    else:
        stage, told = entry.decision.stage, entry.decision.explanation
        entry.end("duplicate", "diversity", stage, told)


def _publish(
    entries: Sequence[Entry], pool: Pool, home: Home, number: int, seconds: float
) -> int | None:
    """Publish what is new as shard ``number``; return None when nothing is."""
    there = set(home.store.tables.scan("designs", columns=["id"]).column("id").to_pylist())
    environments: list[EnvironmentRecord] = []
    designs: dict[str, DesignRecord] = {}
    for entry in entries:
        if entry.outcome not in ("admitted", "duplicate", "refused"):
            continue
        design = _design(entry, pool, home, number)
        if design.id not in there:
            designs.setdefault(design.id, design)
        if entry.outcome == "admitted":
            environments.append(_environment(entry, design, home, number))
    if not environments:
        # A shard is there to be trained on; without an environment it would be a step for nothing.
        return None
    rows = list(designs.values())
    meta = {
        "run": home.run,
        "seed": home.settings.section(ProducerConfig).seed,
        "config_digest": home.settings.digest,
        "round": number,
        "policy_version": home.policy_version,
        **summarise(rows, (), ()),
        "seconds": {"total": seconds, "forward": 0.0, "certify": seconds},
        "origin": "import",
        "uri": pool.uri,
        **({"asked": pool.asked} if pool.asked else {}),
        "offered": len(entries),
    }
    home.store.publish(number, environments, rows, [], [], meta=meta)
    return number


def _environment(entry: Entry, design: DesignRecord, home: Home, number: int) -> EnvironmentRecord:
    candidate, certificate, decision = entry.candidate, entry.certificate, entry.decision
    assert candidate is not None
    assert certificate is not None
    assert decision is not None
    return EnvironmentRecord(
        id=design.environment,
        shard=number,
        setting=certificate.setting,
        skills=_skills(candidate, certificate.setting),
        title=certificate.title,
        description=certificate.description,
        source=candidate.source,
        hint=candidate.hint,
        tools=json.dumps(certificate.tools) if certificate.tools else "",
        difficulty=candidate.difficulty,
        certificate=certificate.as_json(),
        policy_version=home.policy_version,
        parents=candidate.parents,
        document=candidate.document,
        design=design.id,
        digest=tree_digest(candidate.source),
        fingerprint=certificate.fingerprint,
        isolation=certificate.isolation,
        decision=decision.to_json(),
    )


def _design(entry: Entry, pool: Pool, home: Home, number: int) -> DesignRecord:
    """Return the row that tells what became of a candidate, whoever wrote it.

    Its id depends on content and verdict, not on place or time: the same verdict again is no new row.
    """
    candidate, certificate = entry.candidate, entry.certificate
    source = candidate.source if candidate else ""
    hint = candidate.hint if candidate else ""
    verdict = (entry.outcome, entry.stage, entry.reason)
    told = (source, hint) if candidate else (pool.uri, entry.place)
    brief: dict[str, Any] = {"origin": "import", "uri": pool.uri, "place": entry.place}
    if candidate:
        brief |= {"skills": list(candidate.skills), "level": candidate.difficulty, "hint": hint}
    admitted = entry.outcome == "admitted"
    assert not admitted or certificate is not None
    return DesignRecord(
        id=record_id("import", *told, *verdict),
        shard=number,
        brief=json.dumps(brief),
        group=record_id("pool", pool.uri),
        prompt_ids=(),
        ids=(),
        logprobs=(),
        text=source,
        text_only=True,
        temperature=0.0,
        seed=0,
        policy_version=home.policy_version,
        outcome=entry.outcome,
        stage=entry.stage,
        reason=entry.reason,
        # The quarantine has these rows without their brief: who reads it there must find the file.
        detail=": ".join(filter(None, (entry.place, entry.detail))) if not admitted else "",
        environment=environment_id(certificate.setting, source, hint)
        if admitted and certificate
        else "",
        reward=None,
    )


def _skills(candidate: Candidate, setting: str) -> tuple[str, ...]:
    return tuple(name for name in candidate.skills if setting_of(name) == setting)
