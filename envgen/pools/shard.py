"""What an import found, as the rows of a shard."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from envgen.config import ProducerConfig
from envgen.pools.candidate import Candidate
from envgen.pools.pool import Entry, Home, Pool, certificates
from envgen.skills import setting_of
from envgen.summary import summarise
from memory import DesignRecord, EnvironmentRecord, environment_id, record_id
from memory.diversity import tree_digest


def publish(
    entries: Sequence[Entry], pool: Pool, home: Home, number: int, seconds: float
) -> int | None:
    """Publish what is new as shard ``number``; return None when nothing is."""
    there = set(home.store.scan("designs", columns=["id"]).column("id").to_pylist())
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
        **({"release": dict(pool.release)} if pool.release else {}),
        # The tag of a release is not meant to move; other names of other data sets are.
        **({"asked": pool.asked} if pool.release and pool.asked else {}),
        "certificates": certificates(entries),
        "offered": len(entries),
    }
    home.store.publish(number, environments, rows, [], [], meta=meta)
    return number


def _environment(entry: Entry, design: DesignRecord, home: Home, number: int) -> EnvironmentRecord:
    candidate, certificate, decision = entry.candidate, entry.certificate, entry.decision
    assert candidate is not None
    assert certificate is not None
    assert decision is not None
    if entry.again:
        text = entry.again.certificate if entry.vouched == "confirmed" else certificate.as_json()
        return replace(entry.again, shard=number, design=design.id, certificate=text)
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
        certificate=candidate.claim.text
        if candidate.claim and entry.vouched != "made"
        else certificate.as_json(),
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
    verdict = (entry.outcome, entry.stage, entry.reason, *(("certified",) if entry.again else ()))
    told = (source, hint) if candidate else (pool.uri, entry.place)
    brief: dict[str, Any] = {"origin": "import", "uri": pool.uri, "place": entry.place}
    if candidate:
        brief |= {"skills": list(candidate.skills), "level": candidate.difficulty, "hint": hint}
    if candidate and candidate.origin:
        # Where it was first, however often it was published since: benchmarks are told by it.
        brief["first"] = {"uri": candidate.origin.address, "place": candidate.origin.place}
    if pool.release:
        brief["release"] = pool.release["tag"]
    if entry.vouched:
        brief["certificate"] = entry.vouched
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
