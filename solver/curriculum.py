"""Which environments a step plays: a pure decision with a state of its own.

    candidates ─► gate: can it teach anything now? ─► sampler: which of those, and in which order ─► choice
                        ▲                                      ▲                                        │
                        └── what steps saw of it ── state ── how often it was played ◄── observe ◄── plays

Every version is stored with the choice that led to it and the state after it (``curriculum.json``, see
``solver.planning``): the next choice is a function of that state, the standings and a seed, so a step
that is done again chooses the same, and any choice can be explained afterwards.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from memory import status

Kind = Literal["frontier", "uniform"]
CLOSED = ("mastered", "hopeless", "hint_only")
"""Statuses that teach nothing: every play of a group ends alike, or only with the hint."""


@dataclass(frozen=True)
class Candidate:
    """An environment and its newest standing (``memory``).

    ``measured`` is the policy version that ``status`` is about; -1: it was never measured.
    """

    environment: str
    shard: int
    status: str
    measured: int = -1


@dataclass(frozen=True)
class Rules:
    """What is asked for: up to ``count`` environments, for a step that trains on ``shard``.

    ``version`` is the policy version that will play. ``frontier``: those from which something can be
    learnt, a share ``replay`` of the places for older shards. ``uniform``: those of the shard,
    whatever their standing.
    """

    shard: int
    version: int
    count: int
    replay: float = 0.0
    kind: Kind = "frontier"


@dataclass(frozen=True)
class Seen:
    """What the steps so far did with an environment: how many played it, and what the last one saw.

    ``plays`` are those that ended without a fault, ``episode_return`` their mean return.
    """

    steps: int
    version: int
    plays: int = 0
    episode_return: float | None = None


@dataclass(frozen=True)
class State:
    """The curriculum's memory: every environment that a step has played, by id."""

    seen: Mapping[str, Seen] = field(default_factory=dict)


@dataclass(frozen=True)
class Chosen:
    """An environment that is played, and why."""

    environment: str
    shard: int
    why: Literal["frontier", "unmeasured", "replayed", "pool"]


@dataclass(frozen=True)
class Choice:
    """What a step plays, those first that should have more instances; the others by reason."""

    chosen: tuple[Chosen, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def environments(self) -> tuple[str, ...]:
        """The ids, in order."""
        return tuple(one.environment for one in self.chosen)

    def counts(self) -> dict[str, int]:
        """How many were chosen for each reason."""
        return dict(sorted(Counter(one.why for one in self.chosen).items()))


def choose(
    state: State, candidates: Sequence[Candidate], rules: Rules, seed: int
) -> tuple[Choice, State]:
    """Return what is played, and the state in which that is noted. The candidates' order is nothing.

    Frontier environments of the shard come first, then its unmeasured ones, among equals those played
    in the fewest steps, then by lot. Where the shard cannot fill its places, older ones take them.
    """
    lot = random.Random(seed)
    drawn = sorted(candidates, key=lambda one: one.environment)
    lot.shuffle(drawn)
    left_out: Counter[str] = Counter()
    current: list[tuple[tuple[int, int], Chosen]] = []
    older: list[tuple[tuple[int, int], Chosen]] = []
    for one in drawn:
        seen = state.seen.get(one.environment, Seen(0, -1))
        verdict = _gate(one, seen, rules)
        if not isinstance(verdict, Chosen):
            left_out[verdict] += 1
        elif verdict.why == "replayed":
            older.append(((seen.steps, seen.version), verdict))
        else:
            current.append(((verdict.why == "unmeasured", seen.steps), verdict))
    current.sort(key=lambda entry: entry[0])
    older.sort(key=lambda entry: entry[0])
    places = max(rules.count - min(len(older), round(rules.count * rules.replay)), 0)
    taken = [one for _, one in current[:places]]
    taken += [one for _, one in older[: rules.count - len(taken)]]
    if unused := len(current) + len(older) - len(taken):
        left_out["no place"] = unused
    noted = {
        one.environment: Seen(state.seen.get(one.environment, Seen(0, -1)).steps + 1, rules.version)
        for one in taken
    }
    choice = Choice(tuple(taken), dict(sorted(left_out.items())))
    return choice, State({**state.seen, **noted})


def observe(state: State, returns: Mapping[str, Sequence[float]]) -> State:
    """Note what the step that was just chosen saw: returns of unhinted plays, by environment."""
    noted = {
        environment: replace(
            state.seen[environment], plays=len(values), episode_return=sum(values) / len(values)
        )
        for environment, values in returns.items()
        if values
    }
    return State({**state.seen, **noted})


def standing(one: Candidate, seen: Seen) -> str:
    """Return where an environment stands: what was found later counts, a measurement or a step's plays.

    A step's plays lack the hinted arm, so they only show what has left the frontier.
    """
    if seen.plays and seen.version >= one.measured:
        found = status(seen.episode_return, None, False, seen.plays)
        if found != "unmeasured":
            return found
    return one.status


def _gate(one: Candidate, seen: Seen, rules: Rules) -> Chosen | str:
    """Return the environment as one that may be played, or the reason against it."""
    if rules.kind == "uniform":
        mine = one.shard == rules.shard
        return Chosen(one.environment, one.shard, "pool") if mine else "of another shard"
    if one.shard > rules.shard:
        return "of a later shard"
    found = standing(one, seen)
    if found in CLOSED:
        return found
    if one.shard == rules.shard:
        fresh = found == "unmeasured"
        return Chosen(one.environment, one.shard, "unmeasured" if fresh else "frontier")
    if found == "frontier":
        return Chosen(one.environment, one.shard, "replayed")
    return "old and unmeasured"


def instances(environments: Sequence[str], *, groups: int, most: int) -> list[tuple[str, int]]:
    """Spread ``groups`` groups over the environments: (environment, instance number) pairs.

    Every environment has its first instance before any has its second, and none more than ``most``.
    Plays of one environment stand together.
    """
    total = min(groups, most * len(environments))
    share, rest = divmod(total, len(environments)) if environments else (0, 0)
    return [
        (environment, number)
        for place, environment in enumerate(environments)
        for number in range(share + (place < rest))
    ]


def as_json(choice: Choice, state: State) -> dict[str, Any]:
    """Return the plain data that a version is stored with."""
    seen = {
        name: [one.steps, one.version, one.plays, one.episode_return]
        for name, one in sorted(state.seen.items())
    }
    return {"choice": asdict(choice), "seen": seen}


def from_json(data: Mapping[str, Any]) -> tuple[Choice, State]:
    """Read what ``as_json`` gave. Raises ``ValueError`` or ``TypeError`` for anything else."""
    try:
        stored = data["choice"]
        chosen = tuple(Chosen(**one) for one in stored["chosen"])
        seen = {name: Seen(*values) for name, values in data["seen"].items()}
        return Choice(chosen, dict(stored["left_out"])), State(seen)
    except (KeyError, AttributeError) as error:
        raise ValueError(f"not a curriculum: {error}") from None
