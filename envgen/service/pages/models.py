"""What the API answers about what the pages show: the map, rounds, curves and plays by hand."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from envgen.service.models import FullIdentity, Model, Status, _whole
from envgen.service.pages.sessions import Session

MOST_TEXT = 20_000


class MapModel(Model):
    """Environments as points, column by column: place *n* of every list is one environment.

    Colours are indexes into `skills_known` and `statuses_known`.
    """

    state: Literal["empty", "drawing", "ready", "failed"] = Field(
        description="`drawing`: what is here is not all yet; ask again."
    )
    problem: str
    digest: str = Field(description="Changes when points that were there have moved.")
    total: int = Field(description="Environments of the store.")
    skills_known: list[str]
    statuses_known: list[Status]
    id: list[str]
    x: list[float]
    y: list[float]
    skills: list[list[int]]
    status: list[int]
    regret: list[float | None]
    shard: list[int]
    policy_version: list[int] = Field(description="The version that designed it.")


class RoundModel(Model):
    """What came of one round."""

    shard: int
    policy_version: int
    created: str
    designs: int
    admitted: int
    duplicates: int
    faulted: int
    fell: dict[str, int] = Field(description="Stage -> designs that went no further there.")
    learnable: float | None = Field(description="Share with a return in [0.15, 0.85].")
    regret: float | None
    return_unhinted: float | None
    return_hinted: float | None
    vendi_share: float | None = Field(description="Vendi score / n: 1 when all are different.")
    plays: int
    tokens: int | None
    seconds: float | None
    regrets: list[float] = Field(description="Regret of each of its environments, newest figures.")


class CurveModel(Model):
    """One figure over steps."""

    name: str
    steps: list[int]
    values: list[float]


class VersionModel(Model):
    """One policy version and what it came from."""

    version: int
    parent: int | None
    shard: int | None = Field(description="The shard that it was trained on.")
    created: str
    played: dict[str, list[str]] = Field(
        description="Environments that its step played, by why they were chosen."
    )


class RunModel(Model):
    """Curves of both roles and the policy versions."""

    rounds: list[CurveModel] = Field(description="Steps are shards.")
    versions: list[CurveModel] = Field(description="Steps are policy versions.")
    policies: list[VersionModel]


class SessionRequest(Model):
    """Play an environment by hand."""

    environment: FullIdentity
    seed: Annotated[int, Field(ge=0, le=2**31 - 1), BeforeValidator(_whole)] = 0


class ActRequest(Model):
    """One action: a text, or the call of a tool."""

    text: str = Field("", max_length=MOST_TEXT)
    tool: str = Field("", max_length=200, description="Name of a tool; then `text` is not read.")
    arguments: dict[str, Any] = Field(default_factory=dict)


class SaidModel(Model):
    """One message of a play."""

    role: str
    content: str


class SessionModel(Model):
    """A play by hand. Its texts were written by a model's program: treat them as hostile."""

    id: str
    environment: str
    title: str
    setting: str
    seed: int
    turns: int
    most_turns: int
    said: list[SaidModel]
    offered: list[str] = Field(description="Actions that the newest text offers.")
    tools: list[dict[str, Any]]
    over: bool
    ended: str = Field(description="`won`, `over`, `left`, `idle` or `fault` once it is over.")
    episode_return: float | None
    fault: str
    left_s: float = Field(description="Ended after so many seconds without an action.")

    @classmethod
    def of(cls, session: Session, left_s: float) -> "SessionModel":
        """Return the model of a play."""
        return cls(
            id=session.id,
            environment=session.environment,
            title=session.title,
            setting=session.info.setting,
            seed=session.seed,
            turns=session.turns,
            most_turns=session.most_turns,
            said=[SaidModel(role=one.role, content=one.content) for one in session.said],
            offered=list(session.offered),
            tools=list(session.info.tools),
            over=bool(session.ended),
            ended=session.ended,
            episode_return=session.result,
            fault=session.fault,
            left_s=round(left_s, 1),
        )
