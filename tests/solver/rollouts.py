"""Fixed samples to train on."""

import random

from solver.samples import Sample


def make_samples(
    count: int, seed: int = 0, version: int = 0, group: int = 4, warm: bool = False
) -> list[Sample]:
    """Samples of mixed lengths with a prompt, two sampled stretches and text between them."""
    rng = random.Random(seed)
    samples = []
    for number in range(count):
        lengths = [rng.randint(2, 30), rng.randint(1, 9), rng.randint(1, 6), rng.randint(1, 9)]
        mask = tuple(place % 2 for place, length in enumerate(lengths) for _ in range(length))
        ids = tuple(rng.randrange(20, 400) for _ in mask)
        logprobs = tuple(-3.0 * rng.random() if sampled else 0.0 for sampled in mask)
        temperature = 1.0 if warm else (1.0, 0.7)[number % 2]
        samples.append(
            Sample(
                *(f"g{number // group}",) * 2,
                ids,
                mask,
                logprobs,
                rng.random(),
                temperature,
                version,
            )
        )
    return samples
