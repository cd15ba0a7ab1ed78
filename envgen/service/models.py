"""What the API answers, as typed models. Text of environments and designs is hostile data: JSON only."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from envgen.service.jobs import Job
from envgen.service.keeper import StockStatus
from envgen.service.worker import Serving
from memory import DesignRecord, EnvironmentRecord, Manifest, PlayRecord, StandingRecord
from memory.search import Hit, status_of

Setting = Literal["game", "tool_use"]
Status = Literal["frontier", "mastered", "hopeless", "hint_only", "unmeasured"]
Outcome = Literal["admitted", "refused", "duplicate", "faulted"]
Identity = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{4,64}$"),
    Field(description="An id or at least its first four hex digits.", examples=["075725e5"]),
]
FullIdentity = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{20}$")]


def _whole(value: Any) -> Any:
    """JSON's `true` and `"3"` are no numbers, though Python would take them for such."""
    if isinstance(value, bool | str):
        raise ValueError("must be a whole number")
    return value


Rounds = Annotated[int, Field(ge=1, le=1000), BeforeValidator(_whole)]
Version = Annotated[int, Field(ge=0, le=999_999), BeforeValidator(_whole)]
Item = TypeVar("Item")


class Model(BaseModel):
    """Immutable; unknown fields in a request are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Problem(Model):
    """What went wrong, in one line."""

    detail: str


class Page(Model, Generic[Item]):
    """A part of a list."""

    items: list[Item]
    total: int = Field(description="How many there are in all.")
    offset: int
    limit: int


class Standing(Model):
    """Figures of an environment for one policy version; null where nothing was measured."""

    policy_version: int
    status: Status
    plays_unhinted: int
    plays_hinted: int
    return_unhinted: float | None
    return_hinted: float | None
    regret: float | None = Field(description="Mean return with the hint minus without.")
    regret_low: float | None = Field(description="Lower end of the 95 % interval.")
    regret_high: float | None

    @classmethod
    def of(cls, record: StandingRecord) -> "Standing":
        """Return the model of a record."""
        return cls(**{name: _finite(getattr(record, name)) for name in cls.model_fields})


class EnvironmentSummary(Model):
    """An environment without its source."""

    id: str
    shard: int
    setting: str
    skills: list[str]
    title: str
    description: str
    difficulty: int = Field(description="1 to 5, 0 unknown.")
    policy_version: int = Field(description="The version that designed it.")
    status: Status
    standing: Standing | None = Field(description="The newest figures.")

    @classmethod
    def of(cls, record: EnvironmentRecord, standing: StandingRecord | None) -> "EnvironmentSummary":
        """Return the model of a record and its newest standing."""
        return cls(**_summary(record, standing))


class Check(Model):
    """One check of a certificate."""

    name: str
    verdict: str
    message: str
    evidence: dict[str, Any]


class Relative(Model):
    """An ancestor or descendant."""

    id: str
    title: str
    shard: int
    generations: int


class Environment(EnvironmentSummary):
    """All about an environment. Its source is a program that a model wrote: run it in a sandbox only."""

    source: str
    hint: str
    tools: list[dict[str, Any]] = Field(description="OpenAI function schemas; empty for games.")
    checks: list[Check] = Field(description="The certificate.")
    standings: list[Standing] = Field(description="One for each policy version, oldest first.")
    ancestors: list[Relative]
    descendants: list[Relative]
    document: str = Field(description="Document of the corpus that it grew from, if any.")
    design: str = Field(description="The design it came from.")
    isolation: str
    why: str = Field(description="Why the diversity filter admitted it.")


class Found(Model):
    """A match of a search."""

    environment: EnvironmentSummary
    score: float = Field(description="Fused rank of meaning and words; higher is better.")
    similarity: float | None = Field(description="Cosine to the query, null if not measured.")

    @classmethod
    def of(cls, hit: Hit) -> "Found":
        """Return the model of a hit."""
        summary = EnvironmentSummary.of(hit.environment, hit.standing)
        return cls(environment=summary, score=hit.score, similarity=_finite(hit.similarity))


class Turn(Model):
    """One message of a play."""

    role: str
    content: str


def turns(transcript: str) -> list[Turn]:
    """Return the messages of a stored transcript."""
    return [Turn(role=one["role"], content=one["content"]) for one in _list(transcript)]


class Play(Model):
    """One episode."""

    id: str
    seed: int
    arm: str = Field(description="`hinted` or `unhinted`.")
    purpose: str = Field(description="`probe` or `train`.")
    episode_return: float | None = Field(description="Null when it faulted.")
    turns: int
    fault: str
    policy_version: int
    transcript: list[Turn]

    @classmethod
    def of(cls, record: PlayRecord) -> "Play":
        """Return the model of a record."""
        names = cls.model_fields.keys() - {"transcript"}
        values = {name: _finite(getattr(record, name)) for name in names}
        return cls(**values, transcript=turns(record.transcript))


class DesignSummary(Model):
    """A completion of the designer, valid or not, without its text."""

    id: str
    shard: int
    group: str = Field(description="The brief: designs of one group were asked the same.")
    outcome: Outcome
    stage: str = Field(description="Where it went no further.")
    reason: str
    detail: str
    environment: str = Field(description="The environment that it became, if it did.")
    reward: float | None
    policy_version: int
    temperature: float

    @classmethod
    def of(cls, record: DesignRecord) -> "DesignSummary":
        """Return the model of a record."""
        return cls(**{name: _finite(getattr(record, name)) for name in cls.model_fields})


class Design(DesignSummary):
    """All about a design but its tokens."""

    brief: dict[str, Any]
    text: str
    tokens: int
    seed: int

    @classmethod
    def of(cls, record: DesignRecord) -> "Design":
        """Return the model of a record."""
        summary = DesignSummary.of(record).model_dump()
        return cls(
            **summary,
            brief=_object(record.brief),
            text=record.text,
            tokens=len(record.ids),
            seed=record.seed,
        )


class ShardFile(Model):
    """One file of a shard."""

    name: str
    sha256: str
    bytes: int
    rows: int


class Shard(Model):
    """What one round published, for good."""

    shard: int
    created: str
    policy_version: int
    environments: int
    designs: int
    plays: int
    digest: str = Field(description="SHA-256 of the manifest.")
    files: list[ShardFile]
    figures: dict[str, Any] = Field(description="What the round measured.")

    @classmethod
    def of(cls, head: Manifest) -> "Shard":
        """Return the model of a manifest."""
        files = [ShardFile(name=name, **vars(one)) for name, one in sorted(head.files.items())]
        return cls(
            shard=head.shard,
            created=head.created,
            policy_version=head.policy_version,
            environments=head.rows("environments"),
            designs=head.rows("designs"),
            plays=head.rows("plays"),
            digest=head.digest,
            files=files,
            figures=dict(head.meta),
        )


class GenerateRequest(Model):
    """Publish shards, one round each."""

    kind: Literal["generate"]
    rounds: Rounds = 1


class MeasureRequest(Model):
    """Play stored environments with the version that serves, and record where they stand."""

    kind: Literal["measure"]
    environments: list[FullIdentity] = Field(min_length=1, max_length=256)


JobRequest = Annotated[GenerateRequest | MeasureRequest, Field(discriminator="kind")]


class JobModel(Model):
    """A job and what became of it."""

    id: str
    kind: Literal["generate", "measure"]
    origin: Literal["user", "stock"] = Field(
        description="`stock`: the service asked for it itself."
    )
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    cancelling: bool = Field(description="It ends at the next safe point.")
    rounds: int
    environments: list[str]
    policy_version: int | None = Field(description="`measure`: the version that plays.")
    shards: list[int] = Field(description="Shards whose rounds it has begun.")
    created: str
    started: str
    ended: str
    message: str
    progress: dict[str, Any] | None = Field(None, description="The newest progress event, if any.")

    @classmethod
    def of(cls, job: Job, progress: Mapping[str, Any] | None = None) -> "JobModel":
        """Return the model of a job."""
        return cls(**dataclasses.asdict(job), progress=dict(progress) if progress else None)


class PolicyModel(Model):
    """Which policy version designs and plays."""

    serving: int
    target: int = Field(description="The version that shall serve from the next round on.")
    newest: int
    pinned: int | None = Field(description="Null: the newest that the schedule gives.")
    problem: str = Field(description="Why the target cannot serve, empty when it does.")
    versions: list[int]

    @classmethod
    def of(cls, now: Serving, pinned: int | None, versions: Sequence[int]) -> "PolicyModel":
        """Return the model of what serves."""
        return cls(**dataclasses.asdict(now), pinned=pinned, versions=list(versions))


class PolicyRequest(Model):
    """Which version shall serve from the next round on; null follows the newest."""

    version: Version | None


class StockModel(Model):
    """The stock of frontier environments for the version that serves."""

    level: int = Field(description="How many there should be; 0: no stock is kept.")
    policy_version: int | None
    held: int | None = Field(description="At the frontier of this version.")
    stale: int | None = Field(description="At the frontier of an older one, to be measured again.")
    doing: str = Field(
        description="`off`, `looking`, `full`, `measuring`, `designing`, `waiting` after a failure "
        "or a cancelled job, `barren` when rounds no longer add any, `ahead` while a trainer that "
        "is at work has to come nearer first."
    )
    barren_rounds: int
    failures: int
    problem: str

    @classmethod
    def of(cls, now: StockStatus) -> "StockModel":
        """Return the model of what the keeper knows."""
        stock = now.stock
        return cls(
            level=now.level,
            policy_version=stock.policy_version if stock else None,
            held=stock.held if stock else None,
            stale=len(stock.stale) if stock else None,
            doing=now.doing,
            barren_rounds=now.barren_rounds,
            failures=now.failures,
            problem=now.problem,
        )


class Health(Model):
    """Whether the service works."""

    status: Literal["ok", "failed"]
    version: str
    uptime_s: float
    policy_version: int
    running: str = Field(description="The job that is being done, empty when none is.")
    waiting: int


def environment(
    record: EnvironmentRecord,
    standings: Sequence[StandingRecord],
    family: Any,
    why: str,
) -> Environment:
    """Return the whole model of an environment."""
    return Environment(
        **_summary(record, standings[-1] if standings else None),
        source=record.source,
        hint=record.hint,
        tools=_list(record.tools),
        checks=[Check(**one) for one in _object(record.certificate).get("checks", [])],
        standings=[Standing.of(one) for one in standings],
        ancestors=[Relative(**vars(one)) for one in family.ancestors],
        descendants=[Relative(**vars(one)) for one in family.descendants],
        document=record.document,
        design=record.design,
        isolation=record.isolation,
        why=why,
    )


def _summary(record: EnvironmentRecord, standing: StandingRecord | None) -> dict[str, Any]:
    same = ("id", "shard", "setting", "title", "description", "difficulty", "policy_version")
    return {
        **{name: getattr(record, name) for name in same},
        "skills": list(record.skills),
        "status": status_of(standing),
        "standing": Standing.of(standing) if standing else None,
    }


def _finite(value: Any) -> Any:
    """JSON knows no nan."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text) if text else {}
    return value if isinstance(value, dict) else {}


def _list(text: str) -> list[Any]:
    value = json.loads(text) if text else []
    return value if isinstance(value, list) else []
