"""Sampling from the likeliest tokens: which are left, and what their log-probabilities are."""

from pathlib import Path

import pytest
import torch

from solver.config import PolicyConfig, SolverConfig
from solver.engines.decode import likeliest
from solver.engines.local import LocalEngine
from solver.policy import Sampling, require_tokens
from spadekit.errors import BadInput

P = (0.4, 0.05, 0.3, 0.15, 0.1)


@pytest.mark.parametrize(
    ("top_k", "top_p", "left"),
    [
        (0, 1.0, (0, 1, 2, 3, 4)),
        (2, 1.0, (0, 2)),
        (9, 1.0, (0, 1, 2, 3, 4)),
        (1, 0.01, (0,)),
        (0, 0.01, (0,)),
        (0, 0.69, (0, 2)),
        (0, 0.71, (0, 2, 3)),
        (3, 0.8, (0, 2)),  # of three tokens with 0.85 together, two have 0.82
    ],
)
def test_the_likeliest_are_left_and_sum_to_one(
    top_k: int, top_p: float, left: tuple[int, ...]
) -> None:
    logp = torch.tensor([P, P]).log()
    rows = likeliest(logp, torch.tensor([top_k, 0]), torch.tensor([top_p, 1.0]))
    whole = sum(P[token] for token in left)
    expected = [P[token] / whole if token in left else 0.0 for token in range(5)]
    assert rows[0].exp().tolist() == pytest.approx(expected)
    assert rows[1].tolist() == pytest.approx(logp[1].tolist())


async def test_the_engine_draws_from_the_likeliest_and_records_their_log_probabilities(
    model_dir: Path,
) -> None:
    engine = LocalEngine.open(model_dir, PolicyConfig())
    prompt = tuple(range(20, 40))
    whole = [await engine.complete(prompt, Sampling(1.0, 1, seed)) for seed in range(60)]
    top = [await engine.complete(prompt, Sampling(1.0, 1, seed, top_k=2)) for seed in range(60)]
    (best,) = {(await engine.complete(prompt, Sampling(1.0, 1, seed, 1e-9))).ids for seed in (1, 2)}
    engine.close()
    assert len({one.ids for one in whole}) > 2 == len({one.ids for one in top})
    shares = {one.ids: torch.tensor(one.logprobs).exp().item() for one in top}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert best == max(shares, key=lambda ids: shares[ids])


@pytest.mark.parametrize("odd", [{"top_p": 0.0}, {"top_p": 1.1}, {"top_k": -1}])
def test_odd_bounds_are_refused(odd: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="cannot sample|top_"):
        Sampling(1.0, 1, 0, **odd)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="top_"):
        SolverConfig(**odd)  # type: ignore[arg-type]


def test_training_refuses_samples_of_a_part_of_the_distribution(model_dir: Path) -> None:
    engine = LocalEngine.open(model_dir, PolicyConfig())
    require_tokens(engine, SolverConfig())
    for config in (SolverConfig(top_p=0.95), SolverConfig(top_k=20)):
        with pytest.raises(BadInput, match="whole distribution"):
            require_tokens(engine, config)
    engine.close()
