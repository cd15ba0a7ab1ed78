"""Measures a policy in both roles: are its designs sound and new, and what does a hint add on them?

    python -m solver.embedded.measure --model DIR --designs 100 --plays 8

What counts as sound is the caller's: this package may not import ``envgen``, so the command line
uses the smallest test (a solution that wins on eight seeds, and at least two distinct instances).
Pass ``judge`` to measure with the full certificate.
"""

import argparse
import ast
import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from sandbox import EnvironmentFault, Message, Pool, Sandbox, SandboxConfig, episode_return
from solver.config import PolicyConfig, SolverConfig
from solver.embedded import data
from solver.embedded.novelty import digest, shipped_facts, training_digests
from solver.engines.local import LocalEngine
from solver.episodes import Job, play_many
from solver.manifest import SHIPPED
from solver.policy import Policy, Sampling
from spadekit.report import Report
from spadekit.seeds import derive

SEEDS = tuple(range(8))
_DESIGN = re.compile(r"\A```python\n(.*?)```\nhint: ([^\n]+)\Z", re.DOTALL)

Judge = Callable[[str, str, str], Awaitable[str]]
"""Takes source, hint and the setting asked for; returns "" for sound, else the reason."""


@dataclass(frozen=True)
class Design:
    """One sampled design; ``reason`` is "" when it is sound."""

    brief: str
    setting: str
    skill: str
    level: int
    text: str
    source: str
    hint: str
    family: str
    reason: str
    new: bool


@dataclass(frozen=True)
class Figures:
    """What was measured. Returns are means over plays; shares are of all designs unless named."""

    temperature: float
    designs: int
    valid: float
    new_of_valid: float
    distinct_of_valid: float
    families: dict[str, str]
    reasons: dict[str, int]
    plays_an_arm: int
    unhinted: float
    hinted: float
    regret: float
    pass_at_plays: float
    band: float
    """Share of the sound designs with an unhinted return in [0.15, 0.85]."""
    by_family: dict[str, list[float]]
    """Family -> [unhinted, hinted]."""


def parse(text: str) -> tuple[str, str] | None:
    """Return (source, hint) of a completion in the designer's form, or None."""
    match = _DESIGN.match(text)
    return (match.group(1), match.group(2).strip()) if match else None


def family_of(source: str) -> str:
    """Return the class name without ``Env``: within the grammar it names the family."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return "?"
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return names[-1].removesuffix("Env") if names else "?"


async def sample_designs(
    policy: Policy, number: int, temperature: float, seed: int, judge: Judge, seen: frozenset[str]
) -> list[Design]:
    """Sample designs for briefs drawn as in training, and judge them."""
    rng = Random(derive(seed, "briefs"))
    asked = [data.design(rng) for _ in range(number)]

    async def one(index: int) -> Design:
        segments, program = asked[index]
        brief = segments[0].text
        prompt = policy.chat.start([Message("user", brief)])
        sampling = Sampling(temperature, 512, derive(seed, "design", index))
        with _client(policy):
            completion = await policy.complete(prompt, sampling)
        text = policy.chat.decode(completion.ids)
        found = parse(text)
        source, hint = found or ("", "")
        reason = await judge(source, hint, program.setting) if found else "form"
        new = not reason and digest(source) not in seen
        family = family_of(source)
        return Design(
            brief,
            program.setting,
            program.skill,
            program.level,
            text,
            source,
            hint,
            family,
            reason,
            new,
        )

    return list(await asyncio.gather(*(one(index) for index in range(number))))


def _client(policy: Any) -> Any:
    return policy.client()


async def solvable(pool: Pool, source: str, hint: str, setting: str) -> str:
    """The smallest judge: the solution wins on eight seeds, and instances differ."""
    del hint
    seen = set()
    try:
        async with pool.lease(source) as jail:
            if jail.info.setting != setting:
                return "setting"
            for seed in SEEDS:
                async with await jail.episode(seed) as episode:
                    actions = await episode.solution()
                    seen.add((episode.observation, tuple(actions)))
                    value = 0.0
                    for action in actions:
                        step = await episode.step(action)
                        if step.terminated or step.truncated:
                            value = episode_return(step.reward, step.terminated)
                            break
                    if value < 1:
                        return "solution"
    except EnvironmentFault as fault:
        return f"{fault.stage}:{fault.reason}"
    return "" if len(seen) > 1 else "seeded"


async def measure(
    model: Path, designs: int, plays: int, temperature: float, seed: int, judge: Judge | None = None
) -> tuple[Figures, list[Design]]:
    """Measure the policy in ``model``; novelty is against the training programs of its manifest."""
    seen = training_digests(shipped_facts(model))
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(Sandbox(SandboxConfig()))
        pool = await stack.enter_async_context(Pool(sandbox))
        policy = LocalEngine(model, PolicyConfig())
        stack.callback(policy.close)

        async def smallest(source: str, hint: str, setting: str) -> str:
            return await solvable(pool, source, hint, setting)

        found = await sample_designs(policy, designs, temperature, seed, judge or smallest, seen)
        sound = [design for design in found if not design.reason]
        returns = await _returns(policy, pool, sound, plays, seed)
    return _figures(found, sound, returns, temperature, plays), found


async def _returns(
    policy: Policy, pool: Pool, designs: Sequence[Design], plays: int, seed: int
) -> list[tuple[list[float], list[float]]]:
    """Play each design ``plays`` times an arm on the same seeds; faults count as 0 here."""
    config = SolverConfig(temperature=1.0, max_tokens=64)
    jobs = [
        Job(
            environment=str(index),
            source=design.source,
            seed=derive(seed, "instance", play) % 2**31,
            hint=design.hint if hinted else None,
            sample_seed=derive(seed, "play", index, play, int(hinted)),
        )
        for index, design in enumerate(designs)
        for play in range(plays)
        for hinted in (False, True)
    ]
    played = await play_many(policy, pool, jobs, config)
    arms: list[tuple[list[float], list[float]]] = [([], []) for _ in designs]
    for job, one in zip(jobs, played, strict=True):
        arms[int(job.environment)][job.hint is not None].append(one.episode_return or 0.0)
    return arms


def _figures(
    found: Sequence[Design],
    sound: Sequence[Design],
    arms: Sequence[tuple[list[float], list[float]]],
    temperature: float,
    plays: int,
) -> Figures:
    by_family: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for design, (plain, helped) in zip(sound, arms, strict=True):
        by_family[design.family][0].extend(plain)
        by_family[design.family][1].extend(helped)
    asked = Counter(family_of(design.source) for design in found)
    valid = Counter(design.family for design in sound)
    means = [(fmean(plain), fmean(hinted)) for plain, hinted in arms]
    unhinted = fmean(plain for plain, _ in means) if means else 0.0
    hinted = fmean(hint for _, hint in means) if means else 0.0
    count = max(1, len(sound))
    return Figures(
        temperature=temperature,
        designs=len(found),
        valid=len(sound) / max(1, len(found)),
        new_of_valid=sum(design.new for design in sound) / count,
        distinct_of_valid=len({digest(design.source) for design in sound}) / count,
        families={name: f"{valid[name]}/{asked[name]}" for name in sorted(asked)},
        reasons=dict(Counter(design.reason for design in found if design.reason).most_common()),
        plays_an_arm=plays,
        unhinted=unhinted,
        hinted=hinted,
        regret=hinted - unhinted,
        pass_at_plays=sum(max(plain) >= 1 for plain, _ in arms) / count,
        band=sum(0.15 <= plain <= 0.85 for plain, _ in means) / count,
        by_family={
            name: [round(fmean(plain), 3), round(fmean(hint), 3)]
            for name, (plain, hint) in sorted(by_family.items())
        },
    )


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--plays", type=int, default=8)
    parser.add_argument("--temperature", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    figures, _ = asyncio.run(
        measure(given.model, given.designs, given.plays, given.temperature, given.seed)
    )
    Report(as_json=True).data(asdict(figures))


if __name__ == "__main__":
    main()
