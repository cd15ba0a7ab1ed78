"""What a round tells whoever watches it: events, the sink that takes them, and where they add up.

A sink is any function of one event. The terminal's display and the service both are one; a round
does not know who listens. Events carry plain values only, so that ``as_dict`` gives JSON.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Stage = Literal["design", "certify", "admit", "measure"]


@dataclass(frozen=True)
class RoundBegan:
    """A round is at work. ``spent_s``: seconds that earlier tries of it took before they were killed."""

    round: int
    policy_version: int
    designs: int
    spent_s: float


@dataclass(frozen=True)
class StageEnded:
    """A completion of the designer has left a stage.

    ``design`` counts the designs of the round, ``turn`` the follow-ups of one. ``fell`` is empty when
    it goes on, else the check or stage that said no. ``again``: read back after a kill, not done now.
    """

    round: int
    design: int
    turn: int
    stage: Stage
    fell: str
    tokens: int
    again: bool


@dataclass(frozen=True)
class PlayEnded:
    """An episode is over; ``tokens`` are those that the policy sampled."""

    round: int
    design: int
    arm: str
    tokens: int
    fault: str
    again: bool


@dataclass(frozen=True)
class DesignEnded:
    """A design goes no further: ``outcome`` and, unless it was admitted, the stage that said no."""

    round: int
    design: int
    outcome: str
    stage: str


@dataclass(frozen=True)
class RoundPublished:
    """The round's shard is there for good, with the figures that its manifest holds."""

    round: int
    summary: Mapping[str, Any]


Event = RoundBegan | StageEnded | PlayEnded | DesignEnded | RoundPublished


class Sink(Protocol):
    """Takes events as they happen, on the event loop: it must be quick and must not raise."""

    def __call__(self, event: Event, /) -> None:
        """Take one event."""


def nobody(event: Event, /) -> None:
    """Take an event and tell nobody."""


def as_dict(event: Event) -> dict[str, Any]:
    """Return an event as a JSON object; ``event`` names its kind."""
    return {"event": type(event).__name__} | {
        one.name: getattr(event, one.name) for one in dataclasses.fields(event)
    }


@dataclass
class Tally:
    """What the events of a run come to so far. Seconds are those of the clock that ``add`` is given."""

    rounds: int
    """Rounds that are to be made."""
    began: float
    round: int = 0
    designs: int = 0
    """Designs that the round is to have."""
    designed: int = 0
    certified: int = 0
    admitted: int = 0
    measured: int = 0
    ended: int = 0
    fell: Counter[str] = field(default_factory=Counter)
    """Designs that went no further, by stage."""
    published: int = 0
    plays: int = 0
    """Episodes of all rounds that were played now, not read back."""
    tokens: int = 0
    """Sampled tokens of designs and episodes, likewise."""
    round_began: float = 0.0

    def add(self, event: Event, now: float) -> None:
        """Add one event that was told at ``now``."""
        match event:
            case RoundBegan():
                self.round, self.designs, self.round_began = event.round, event.designs, now
                self.designed = self.certified = self.admitted = self.measured = self.ended = 0
                self.fell = Counter()
            case StageEnded():
                self.tokens += 0 if event.again else event.tokens
                first, well = event.turn == 0, not event.fell
                self.designed += event.stage == "design" and first
                self.certified += event.stage == "certify" and well
                self.admitted += event.stage == "admit" and well
                self.measured += event.stage == "measure" and well
            case PlayEnded():
                if not event.again:
                    self.plays += 1
                    self.tokens += event.tokens
            case DesignEnded():
                self.ended += 1
                if event.outcome != "admitted":
                    self.fell[event.stage] += 1
            case RoundPublished():
                self.published += 1

    def done(self) -> float:
        """Return the share of the run's work that is done: writing a design is half of its way."""
        here = 0.0
        if self.designs and self.round_began:
            here = (self.designed + self.ended) / (2 * self.designs)
        return min(1.0, (min(self.published, self.rounds - 1) + here) / self.rounds)

    def left_s(self, now: float) -> float | None:
        """Return the seconds that the rest should take at the pace so far; None: not known yet."""
        done = self.done()
        return (now - self.began) * (1 - done) / done if done else None

    def rate(self, count: int, now: float) -> float:
        """Return ``count`` per second since the beginning."""
        return count / max(now - self.began, 1e-9)
