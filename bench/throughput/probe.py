"""How many plays the sequential probe needs, against 16 + 16 fixed ones, and how often each is wrong.

The grid is worked out exactly (every way that wins can fall, with its probability), so it has no noise.
The replay gives the rule recorded plays of the held-out environments and compares what it says.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bench.heldout.dataset import EMBEDDED, read_set
from bench.throughput.row import Row
from envgen.config import ProbeConfig
from envgen.probe import ARMS, Probe, Tally, next_look, wanted
from memory import PlayRecord, status
from memory import measure as standing_of
from sandbox import Pool, Sandbox, SandboxConfig
from solver.config import PolicyConfig, SolverConfig
from solver.engines.local import LocalEngine
from solver.episodes import Job, play_many
from solver.policy import Policy
from spadekit.seeds import derive
from spadekit.settings import Settings

MOST = 16
Pair = tuple[float, float]
"""True mean returns, unhinted and hinted."""
State = tuple[int, int, int, int]
"""Plays and wins of the unhinted arm, then of the hinted arm."""


def grid() -> list[Pair]:
    """Return all pairs in steps of 0.1 where the hint does no harm."""
    steps = [index / 10 for index in range(11)]
    return [(bare, helped) for bare in steps for helped in steps if helped >= bare]


def clear(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs whose status does not depend on a few hundredths of a return."""
    return [
        (bare, helped)
        for bare, helped in pairs
        if min(abs(bare - 0.15), abs(bare - 0.85)) > 0.1
        and (not 0.15 < bare < 0.85 or helped - bare > 0.15)
    ]


def sequential(pair: Pair, error: float) -> tuple[float, float]:
    """Return (expected plays of both arms, probability of the wrong status)."""
    true = _status(pair)
    plays = wrong = 0.0
    states: dict[State, float] = {(0, 0, 0, 0): 1.0}
    while states:
        following: dict[State, float] = defaultdict(float)
        for state, chance in states.items():
            more = _batch(state, error)
            if more == (0, 0):
                plays += chance * (state[0] + state[2])
                wrong += chance * (_seen(state) != true)
                continue
            ways = itertools.product(_binomial(more[0], pair[0]), _binomial(more[1], pair[1]))
            for (bare, p), (helped, q) in ways:
                after = (state[0] + more[0], state[1] + bare, state[2] + more[1], state[3] + helped)
                following[after] += chance * p * q
        states = following
    return plays, wrong


def fixed(pair: Pair, plays: int) -> float:
    """Return the probability of the wrong status after ``plays`` plays in each arm."""
    ways = itertools.product(_binomial(plays, pair[0]), _binomial(plays, pair[1]))
    return math.fsum(
        p * q
        for (bare, p), (helped, q) in ways
        if _seen((plays, bare, plays, helped)) != _status(pair)
    )


def on_grids(error: float) -> list[Row]:
    """Return plays and wrong verdicts of the sequential rule beside the fixed plan."""
    rows = []
    for name, pairs in (("all return pairs", grid()), ("clear return pairs", clear(grid()))):
        found = [sequential(pair, error) for pair in pairs]
        whole = [fixed(pair, MOST) for pair in pairs]
        rows += [
            _row(f"plays, {name}", _mean([plays for plays, _ in found]), "plays", 2 * MOST, pairs),
            _row(
                f"wrong status, {name}",
                100 * _mean([wrong for _, wrong in found]),
                "%",
                100 * _mean(whole),
                pairs,
            ),
        ]
    return rows


async def measure(folder: Path, config: PolicyConfig, settings: Settings) -> list[Row]:
    """Return the rows of the grids and of the replay, at the recipe's ``probe.error``."""
    error = settings.section(ProbeConfig).error
    policy = LocalEngine.open(folder, config)
    try:
        async with Sandbox(settings.section(SandboxConfig)) as sandbox, Pool(sandbox) as pool:
            replay = await replayed(policy, pool, settings.section(SolverConfig), error)
    finally:
        policy.close()
    return on_grids(error) + replay


async def replayed(policy: Policy, pool: Pool, solver: SolverConfig, error: float) -> list[Row]:
    """Play held-out environments 16 + 16 times, then give the rule those plays one batch at a time."""
    environments = read_set(EMBEDDED).environments[::2]  # half of them say enough
    probes = {
        one.id: Probe(MOST, error, seed=derive(0, "replay"), environment=one.id)
        for one in environments
    }
    jobs = [
        Job(one.id, one.source, seed, hint, derive(0, "replay", one.id, seed, hint or ""))
        for one in environments
        for seed in probes[one.id].seeds
        for hint in (None, one.hint)
    ]
    recorded: dict[str, dict[tuple[int, str], PlayRecord]] = defaultdict(dict)
    for job, play in zip(jobs, await play_many(policy, pool, jobs, solver), strict=True):
        arm = ARMS[play.hinted]
        recorded[job.environment][play.seed, arm] = play.record(
            id="", environment=job.environment, purpose="probe", arm=arm
        )
    plays, same = [], []
    for name, whole in recorded.items():
        used: list[PlayRecord] = []
        while trials := probes[name].next(used):
            used += [whole[trial.seed, trial.arm] for trial in trials]
        plays.append(len(used))
        verdicts = [
            standing_of(name, policy.version, made, 0).status
            for made in (used, list(whole.values()))
        ]
        same.append(verdicts[0] == verdicts[1])
    return [
        _row("plays, replay of recorded ones", _mean(plays), "plays", 2 * MOST, plays),
        _row("same status, replay of recorded ones", 100 * _mean(same), "%", 100, plays),
    ]


def _row(measured: str, value: float, unit: str, peer: float, over: Sequence[object]) -> Row:
    return Row(
        part="probe",
        measure=measured,
        value=value,
        unit=unit,
        n=len(over),
        peer=f"{MOST} + {MOST} fixed plays",
        peer_value=peer,
    )


@cache
def _batch(state: State, error: float) -> tuple[int, int]:
    """Return how many plays each arm makes next; both 0 at the end."""
    unhinted, hinted = (
        Tally(plays, wins, float(wins == plays), MOST - plays)
        for plays, wins in (state[:2], state[2:])
    )
    more = wanted(unhinted, hinted, error)
    first, second = (
        next_look(tally.plays, MOST, error) - tally.plays if arm in more else 0
        for arm, tally in zip(ARMS, (unhinted, hinted), strict=True)
    )
    return first, second


def _status(pair: Pair) -> str:
    return status(pair[0], pair[1] - pair[0], False, 1)


def _seen(state: State) -> str:
    return _status((state[1] / state[0], state[3] / state[2]))


@cache
def _binomial(n: int, rate: float) -> tuple[tuple[int, float], ...]:
    chances = ((k, math.comb(n, k) * rate**k * (1 - rate) ** (n - k)) for k in range(n + 1))
    return tuple((k, chance) for k, chance in chances if chance > 1e-12)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
