"""Importing a pool: certify every candidate, keep the diverse ones, publish them as one shard.

Each certificate is a line of a journal that stays, whatever the pool: nothing is certified twice by the
same checks under the same limits, neither after a kill nor when a pool, or another one that shares
programs with it, is imported again. Only rows that are new are published: the same import once more
adds nothing. What came with ``--trust`` and is certified later is published once more, by the same id.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from envgen.certificate import Certificate, certify, code_digest
from envgen.config import ProducerConfig
from envgen.entries import of_import
from envgen.hub import parse
from envgen.measuring import retried
from envgen.pools.candidate import Unusable
from envgen.pools.limits import ROWS
from envgen.pools.pool import Entry, Home, Imported, Pool
from envgen.pools.shard import publish
from envgen.publish.origins import believed
from envgen.terms import terms_of
from memory import EnvironmentRecord, Store, environment_id, record_id
from memory.diversity import Decision, DiversityFilter
from memory.schema import SETTINGS
from sandbox import Sandbox, SandboxConfig, SandboxFault, printable
from spadekit.errors import BadInput, OurFault
from spadekit.files import Journal
from spadekit.tasks import together

MOST_FAULTED = 0.25
"""An import with a larger share of candidates lost through faults of ours is given up."""


async def import_pool(pool: Pool, home: Home, sandbox: Sandbox) -> Imported:
    """Import a pool into a home; what is refused is kept with its reason.

    Raises ``BadInput`` for a pool that cannot be read, ``OurFault`` when the sandbox fails too often.
    """
    began = time.monotonic()
    _check_tag(pool, home.store)
    number = _next_shard(home)
    journal = Journal(_journal_path(home), of_import)
    try:
        with home.report.progress() as progress:
            bar = progress.add_task(f"reading {pool.uri}", total=None, note="")
            entries = _entries(pool, home.store, lambda: progress.advance(bar))
            waiting = [one for one in entries if not one.outcome]
            progress.update(bar, description="certified", total=len(waiting), completed=0)
            await _certify(
                waiting, pool.believed, journal, home, sandbox, lambda: progress.advance(bar)
            )
            progress.update(bar, description="compared", total=len(waiting), completed=0)
            _decide(waiting, pool, home.store, lambda: progress.advance(bar))
        faulted = [one for one in entries if one.outcome == "faulted"]
        if len(faulted) > MOST_FAULTED * len(entries):
            raise OurFault(
                f"{len(faulted)} of {len(entries)} candidates could not be judged "
                f"({faulted[0].detail}); nothing was published, run it again to go on"
            )
        seconds = time.monotonic() - began
        shard = publish(entries, pool, home, number, seconds)
    finally:
        journal.close()
    return Imported(pool.uri, shard, tuple(entries), seconds)


def _check_tag(pool: Pool, store: Store) -> None:
    """Refuse a tag of a release that names another commit than when a shard was imported from it."""
    for manifest in store.shards() if pool.asked else ():
        asked, uri = manifest.meta.get("asked", ""), manifest.meta.get("uri", "")
        if asked and _same_tag(asked, pool.asked) and parse(uri)[1] != parse(pool.uri)[1]:
            raise BadInput(
                f"{pool.asked}: the tag has moved since shard {manifest.shard} was imported from it "
                f"({uri}); if you trust who moved it, import {pool.uri}"
            )


def _same_tag(one: str, other: str) -> bool:
    """Whether two addresses name the same tag: to the Hub, the case of a name is nothing."""
    (name, tag), (other_name, other_tag) = parse(one), parse(other)
    return (name.lower(), tag) == (other_name.lower(), other_tag)


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
    limits = home.settings.digest_of(SandboxConfig)
    terms = terms_of(home.settings)
    name = record_id("certificates", limits, terms.max_turns, terms.guessable, code_digest())
    return home.folder / "runs" / home.run / "imports" / f"{name}.jsonl"


def _entries(pool: Pool, store: Store, advance: Callable[[], None]) -> list[Entry]:
    """Read the pool; what cannot be judged or is known already is decided here."""
    known = set(store.scan("environments", columns=["id"]).column("id").to_pylist())
    trusted = {} if pool.believed else _trusted(store)
    entries: list[Entry] = []
    seen: dict[tuple[str, str], str] = {}
    for found in pool.read():
        if len(entries) == ROWS:
            raise BadInput(f"{pool.uri}: more than {ROWS} candidates; import it in parts")
        entry = Entry(printable(found.place))
        entries.append(entry)
        advance()
        if isinstance(found, Unusable):
            entry.end("refused", "read", found.reason, printable(found.detail))
            continue
        ids = [environment_id(setting, found.source, found.hint) for setting in SETTINGS]
        twin = seen.setdefault((found.source, found.hint), found.place)
        same = next((one for one in ids if one in known), "")
        if same and not (same in trusted and twin == found.place):
            entry.end("known", "diversity", "same", f"already in the memory as {same}")
        elif twin != found.place:
            entry.end("known", "diversity", "same", f"the same as {twin}, word for word")
        else:
            entry.candidate, entry.again = found, trusted.get(same)
    return entries


def _trusted(store: Store) -> dict[str, EnvironmentRecord]:
    """Return the environments of the memory whose certificates are only believed, by id."""
    heads = [head for head in store.shards() if head.meta.get("origin") == "import"]
    names = believed(store.member(head, "designs") for head in heads)
    return {one.id: one for one in store.environments(ids=sorted(names))} if names else {}


async def _certify(
    entries: Sequence[Entry],
    believed: bool,
    journal: Journal,
    home: Home,
    sandbox: Sandbox,
    advance: Callable[[], None],
) -> None:
    """Certify as many at once as the producer does; what the journal has is not done again.

    A release's certificate that is found again, all but times and memory, stays as it came.
    """
    terms = terms_of(home.settings)
    done = {line["id"]: line["certificate"] for line in journal.entries}
    work = iter(entries)

    async def judge(entry: Entry) -> None:
        candidate = entry.candidate
        assert candidate is not None
        name = record_id("candidate", candidate.source, candidate.hint)
        if believed and candidate.claim:
            entry.certificate, entry.vouched = candidate.claim.certificate, "believed"
            return
        if name in done:
            made = Certificate.from_json(done[name])
        else:
            try:
                made = await retried(
                    partial(certify, candidate.source, candidate.hint or None, sandbox, terms=terms)
                )
            except SandboxFault as fault:
                entry.end("faulted", "certificate", "sandbox", str(fault))
                return
            journal.append({"id": name, "certificate": made.as_json()})
        entry.certificate, entry.vouched = made, "made"
        if candidate.claim and candidate.claim.certificate.facts() == made.facts():
            entry.certificate, entry.vouched = candidate.claim.certificate, "confirmed"

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
    """Admit or refuse in the pool's order, so that which of two twins is the variant is settled.

    The environments of a release were compared among themselves where it was made, under thresholds that
    are its maker's affair; with what this store has they are compared under those of this home.
    """
    known = store.diversity_filter()
    lenient = replace(known.thresholds, keep_variants=True)
    if pool.alike:
        known.thresholds = lenient
    filters = (known, DiversityFilter((), lenient)) if pool.release else (known,)
    for entry in entries:
        advance()
        if entry.outcome:
            continue
        assert entry.certificate is not None
        failed = entry.certificate.failed
        if failed is not None:
            reason = str(failed.evidence.get("reason", failed.name))
            held = f" (in the memory, unchecked, as {entry.again.id})" if entry.again else ""
            entry.end("refused", failed.name, reason, failed.message + held)
        elif other := _other(entry):
            entry.end("refused", "certificate", "other", other)
        elif entry.again:
            entry.decision = Decision.from_json(
                entry.again.decision
            )  # it was compared when it came
            entry.end("admitted", "", "", "")
        else:
            _admit(entry, filters)


def _other(entry: Entry) -> str:
    """Say so where a program is not what its release says that it is."""
    candidate, certificate = entry.candidate, entry.certificate
    assert candidate is not None
    assert certificate is not None
    found = environment_id(certificate.setting, candidate.source, candidate.hint)
    if entry.again and entry.again.id != found:
        return f"the memory has it as {entry.again.setting}; it is {certificate.setting}"
    if candidate.claim is None or candidate.claim.environment == found:
        return ""
    told = candidate.claim.certificate.setting
    return f"the release calls it {told}; it is {certificate.setting}, and so another environment"


def _admit(entry: Entry, filters: Sequence[DiversityFilter]) -> None:
    """Admit what every filter lets through; the last one learns of it."""
    candidate, certificate = entry.candidate, entry.certificate
    assert candidate is not None
    assert certificate is not None
    name = environment_id(certificate.setting, candidate.source, candidate.hint)
    decided = [one.decide(name, candidate.source, certificate.fingerprint) for one in filters]
    # Of several the one that refuses, or else the one with the nearest neighbour.
    entry.decision = min(decided, key=lambda one: (one.accepted, -one.similarity))
    if entry.decision.accepted:
        filters[-1].add(name, candidate.source, certificate.fingerprint)
        entry.end("admitted", "", "", "")
    else:
        stage, told = entry.decision.stage, entry.decision.explanation
        entry.end("duplicate", "diversity", stage, told)
