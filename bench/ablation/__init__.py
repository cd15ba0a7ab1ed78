"""The comparison of arms on held-out environments: does self-play help, and which part of it?"""

import asyncio
from dataclasses import replace

from bench.ablation import others, recipe, repeats
from bench.ablation.arms import named
from bench.ablation.outcome import by_arm, without
from bench.ablation.pages import show, write
from bench.ablation.read import trained
from bench.ablation.work import RUN, Work, carry_out, commands, judgement, shards
from bench.config import AblationConfig, HeldoutConfig
from bench.heldout.dataset import read_set
from spadekit.cli import Session


def run(session: Session, quick: bool) -> None:
    """Train what is missing, judge it, and write and print what came out.

    Raises ``BadInput`` before anything is done where an arm was begun with another recipe.
    """
    config = session.settings.section(AblationConfig)
    if quick:
        # Some sixteen CPU-minutes: one seed, no more than a first look.
        arms = ("self_play", "fixed_pool")
        config = replace(config, arms=arms, seeds=(0,), rounds=8, pool=2, every=8)
    folder = session.home / ("ablation-quick" if quick else "ablation")
    works = [
        Work(arm, seed, folder / f"{arm.name}-{seed}")
        for arm in named(config.arms)
        for seed in config.seeds
    ]

    for work in works:
        recipe.check(session, work, config)
    late = folder / "others.jsonl"

    def training(work: Work) -> list[list[str]]:
        todo = commands(work, config, session.given, shards(session, work))
        recipe.begin(session, work, config)
        return todo

    def judging(work: Work) -> list[list[str]]:
        return judgement(work, config, session.given, others.RUN, late)

    asyncio.run(carry_out(session, works, config, RUN, training))
    designs = repeats.designed(session, works)
    if others.write(session, works, config.late, designs, late):
        asyncio.run(carry_out(session, works, config, others.RUN, judging))
    heldout = read_set(session.settings.section(HeldoutConfig).path).environments
    own = repeats.repeated(heldout, frozenset().union(*designs.values()))
    found = without([trained(session, work, config) for work in works], own)
    paths = write(by_arm(found), folder)
    show(session, by_arm(found), paths)
