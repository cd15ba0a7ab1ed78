"""How many certificates a second, over the hand-written seed environments."""

import asyncio
import time

from bench.throughput.row import Row
from envgen import seeds
from envgen.certificate import certify
from sandbox import Sandbox, SandboxConfig


async def measure(config: SandboxConfig, together: int) -> list[Row]:
    """Return certificates per second, one at a time and ``together`` at once as a round does."""
    known = seeds.load()
    gate = asyncio.Semaphore(together)
    async with Sandbox(config) as sandbox:

        async def one(seed: seeds.Seed) -> bool:
            async with gate:
                return (await certify(seed.source, seed.hint, sandbox)).accepted

        started = time.perf_counter()
        accepted = [await one(seed) for seed in known]
        alone = len(known) / (time.perf_counter() - started)
        started = time.perf_counter()
        await asyncio.gather(*(one(seed) for seed in known))
        at_once = len(known) / (time.perf_counter() - started)
    return [
        Row(
            part="certificate",
            measure=f"seeds, {together} at once ({sum(accepted)} of {len(known)} pass)",
            value=at_once,
            unit="1/s",
            n=len(known),
            peer="one at a time",
            peer_value=alone,
        )
    ]
