"""Which environments a step plays: a pure decision with a state of its own.

    candidates ─► gate: can it teach anything now? ─► sampler: which of those, and in which order ─► choice
                        ▲                                      ▲                                        │
                        └── what steps saw of it ── state ── how often it was played ◄── observe ◄── plays

What the memory has of an environment is what was measured, with both arms; training writes nothing
there. What training's plays show is in this state and nowhere else.

Every version is stored with the choice that led to it and the state after it (``curriculum.json``, see
``solver.planning``): the next choice is a function of that state, the measurements and a seed, so a step
that is done again chooses the same, and any choice can be explained afterwards.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, Literal

from memory import status
from spadekit.seeds import derive

Kind = Literal["frontier", "uniform"]
Why = Literal["frontier", "unmeasured", "replayed", "again", "pool"]
CLOSED = ("mastered", "hopeless", "hint_only", "faulting")
"""Where nothing can be learnt: every play of a group ends alike, or only with the hint, or none ends."""
SEEDS = 3
"""Distinct instances on which plays must agree before they close an environment: one is one task."""
LOOK_AGAIN = 8
"""Versions after which what closed an environment says little about the policy: it is looked at again."""


@dataclass(frozen=True)
class Candidate:
    """An environment and its newest measurement with both arms (``memory``).

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
    learnt, a share ``replay`` of the places for older shards (0: none of them). ``uniform``: those of
    the shard, whatever their standing.
    """

    shard: int
    version: int
    count: int
    replay: float = 0.0
    kind: Kind = "frontier"


@dataclass(frozen=True)
class Group:
    """A step's plays of one instance: by which version, how many ended without a fault, their mean return."""

    version: int
    seed: int
    plays: int
    episode_return: float | None

    @property
    def shows(self) -> str:
        """Return the status of which these plays are a sign; ``frontier``: their returns differ."""
        if not self.plays:
            return "faulting"
        found = status(self.episode_return, None, False, self.plays)
        return "frontier" if found == "unmeasured" else found


@dataclass(frozen=True)
class Seen:
    """What the steps so far did with an environment: how many played it, the last with ``version``.

    ``groups``: the newest, as many as came from the last step and of at least ``SEEDS`` seeds if there
    were so many, all different; oldest first.
    """

    steps: int = 0
    version: int = -1
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True)
class State:
    """The curriculum's memory: every environment that a step has played, by id."""

    seen: Mapping[str, Seen] = field(default_factory=dict)

    def of(self, environment: str) -> Seen:
        """Return what was seen of an environment."""
        return self.seen.get(environment, Seen())


@dataclass(frozen=True)
class Chosen:
    """An environment that is played, and why."""

    environment: str
    shard: int
    why: Why


@dataclass(frozen=True)
class Choice:
    """What a step plays, those first that should have more instances.

    ``left_out`` counts by reason: the closed ones of the step's shard, and any that found no place.
    """

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
    state: State, candidates: Iterable[Candidate], rules: Rules, seed: int
) -> tuple[Choice, State]:
    """Return what is played, and the state in which that is noted.

    Frontier environments of the shard come first, then its unmeasured ones, among equals those played
    in the fewest steps, then by lot. Where the shard cannot fill its places, older ones take them. A
    closed one that is due gets the last place of the older ones' share; a single place goes to it only if
    no older one is open, or the shard leaves more.

    The candidates' order is nothing, and who cannot be played moves nobody else: the gate comes first,
    and everybody's lot is drawn from the seed and its own id.
    """
    groups: dict[Why, list[tuple[tuple[int, ...], Chosen]]] = {
        why: [] for why in ("frontier", "unmeasured", "replayed", "again", "pool")
    }
    left_out: Counter[str] = Counter()
    for one in candidates:
        if one.shard > rules.shard:
            continue
        seen = state.of(one.environment)
        found, about = standing(one, seen)
        why = _gate(found, about, one, rules)
        if why:
            rank = {"replayed": (seen.steps, seen.version), "again": (about,)}.get(
                why, (seen.steps,)
            )
            lot = derive(seed, one.environment)
            groups[why].append(((*rank, lot), Chosen(one.environment, one.shard, why)))
        elif one.shard == rules.shard:
            left_out[found] += 1
    ordered = {why: [one for _, one in sorted(groups[why], key=_rank)] for why in groups}
    current = ordered["pool"] + ordered["frontier"] + ordered["unmeasured"]
    older, again = ordered["replayed"], ordered["again"]
    share = round(rules.count * rules.replay)
    ahead = max(share - 1, 1)
    others = older[:ahead] + again[:1] + older[ahead:]
    places = max(rules.count - min(len(others), share), 0)
    taken = current[:places]
    taken += others[: rules.count - len(taken)]
    if unused := len(current) + len(older) + len(again) - len(taken):
        left_out["no place"] = unused
    noted = {
        one.environment: Seen(
            state.of(one.environment).steps + 1, rules.version, state.of(one.environment).groups
        )
        for one in taken
    }
    return Choice(tuple(taken), dict(sorted(left_out.items()))), State({**state.seen, **noted})


def observe(state: State, played: Mapping[str, Sequence[Group]]) -> State:
    """Note what the step that was just chosen saw: groups of unhinted plays, by environment."""
    noted = {}
    for environment, groups in played.items():
        seen = state.of(environment)
        seeds = {one.seed for one in groups}
        kept = [one for one in seen.groups if one.seed not in seeds] + list(groups)
        newest = tuple(kept[-max(SEEDS, len(groups)) :])
        noted[environment] = Seen(seen.steps, seen.version, newest)
    return State({**state.seen, **noted})


def standing(one: Candidate, seen: Seen) -> tuple[str, int]:
    """Return where an environment stands, and the newest version by which that is known.

    Plays of steps lack the hinted arm: they never say that an environment is at the frontier, only that
    the last ``SEEDS`` instances or more all went the same way, or that one did not go as a measurement
    that closed it says.
    """
    groups = since_measured(one, seen)
    if not groups:
        return one.status, one.measured
    newest = max(group.version for group in groups)
    shown = {group.shows for group in groups}
    measured = "hopeless" if one.status == "hint_only" else one.status
    closed = one.status in CLOSED
    if closed and shown <= {measured, "faulting"}:
        return one.status, newest
    if len(groups) >= SEEDS and len(shown) == 1 and shown <= set(CLOSED):
        return shown.pop(), newest
    return ("frontier" if closed else one.status), newest


def since_measured(one: Candidate, seen: Seen) -> tuple[Group, ...]:
    """Return the groups that say more than the measurement: not of older versions.

    Against a measurement that closed an environment only newer ones count: it has both arms.
    """
    first = one.measured + (one.status in CLOSED)
    return tuple(group for group in seen.groups if group.version >= first)


def _gate(found: str, about: int, one: Candidate, rules: Rules) -> Why | None:
    """Return why an environment may be played, None when it may not."""
    own = one.shard == rules.shard
    if rules.kind == "uniform":
        return "pool" if own else None
    if not own and not rules.replay:
        return None
    if found in CLOSED:
        return "again" if rules.version - about >= LOOK_AGAIN else None
    if own:
        return "unmeasured" if found == "unmeasured" else "frontier"
    return "replayed" if found == "frontier" else None


def _rank(entry: tuple[tuple[int, ...], Chosen]) -> tuple[tuple[int, ...], str]:
    return entry[0], entry[1].environment


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
        name: [one.steps, one.version, [list(astuple(group)) for group in one.groups]]
        for name, one in sorted(state.seen.items())
    }
    return {"choice": asdict(choice), "seen": seen}


def from_json(data: Mapping[str, Any]) -> tuple[Choice, State]:
    """Read what ``as_json`` gave. Raises ``ValueError`` or ``TypeError`` for anything else."""
    try:
        stored = data["choice"]
        chosen = tuple(Chosen(**one) for one in stored["chosen"])
        seen = {
            name: Seen(steps, version, tuple(Group(*group) for group in groups))
            for name, (steps, version, groups) in data["seen"].items()
        }
        return Choice(chosen, dict(stored["left_out"])), State(seen)
    except (KeyError, AttributeError) as error:
        raise ValueError(f"not a curriculum: {error}") from None
