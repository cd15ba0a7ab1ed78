"""The loss of one token, by table, and its gradient."""

import math

import pytest
import torch
from torch import Tensor

from solver.loss import Clipping, divisor, policy_loss, token_logprobs

CLIPPING = Clipping(0.2, 0.28, 2.0)


def one(value: float) -> Tensor:
    return torch.tensor([value], dtype=torch.float64)


@pytest.mark.parametrize(
    ("ratio", "advantage", "importance", "loss", "clipped"),
    [
        (1.0, 1.0, 1.0, -1.0, 0.0),
        (1.0, -1.0, 1.0, 1.0, 0.0),
        (1.2, 1.0, 1.0, -1.2, 0.0),
        (1.5, 1.0, 1.0, -1.28, 1.0),
        (1.5, -1.0, 1.0, 1.5, 0.0),
        (0.5, 1.0, 1.0, -0.5, 0.0),
        (0.5, -1.0, 1.0, 0.8, 1.0),
        (1.0, 0.5, 1.7, -0.85, 0.0),
        (1.0, 1.0, 5.0, -2.0, 0.0),
        (1.0, 1.0, 0.1, -0.1, 0.0),
        (9.0, 0.0, 1.0, 0.0, 0.0),
    ],
)
def test_the_loss_of_a_token(
    ratio: float, advantage: float, importance: float, loss: float, clipped: float
) -> None:
    anchor = one(-1.0)
    done = policy_loss(
        anchor + math.log(ratio),
        anchor,
        anchor - math.log(importance),
        one(advantage),
        clipping=CLIPPING,
    )
    assert float(done.loss) == pytest.approx(loss)
    assert float(done.low) + float(done.high) == clipped


def test_a_clipped_token_and_the_weights_have_no_gradient() -> None:
    logp = torch.tensor([-1.0 + math.log(1.5), -1.0], requires_grad=True)
    anchor = torch.tensor([-1.0, -1.0])
    behaviour = torch.tensor([-1.0, -1.5])
    done = policy_loss(logp, anchor, behaviour, torch.ones(2), clipping=CLIPPING)
    done.loss.sum().backward()  # type: ignore[no-untyped-call]
    assert logp.grad is not None
    assert logp.grad.tolist() == pytest.approx([0.0, -math.exp(0.5)])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(4))
def test_what_is_not_finite_is_refused(bad: float, place: int) -> None:
    values = [one(-1.0), one(-1.0), one(-1.0), one(1.0)]
    values[place] = one(bad)
    with pytest.raises(ValueError, match="not finite"):
        policy_loss(*values[:4], clipping=CLIPPING)


def test_the_kl_term_is_zero_at_the_reference_and_positive_elsewhere() -> None:
    at, zero = one(-1.0), one(0.0)
    same = policy_loss(at, at, at, zero, clipping=CLIPPING, kl=(0.5, at))
    apart = policy_loss(at, at, at, zero, clipping=CLIPPING, kl=(0.5, one(-2.0)))
    assert float(same.loss) == 0.0
    assert float(apart.loss) == pytest.approx(0.5 * (math.exp(-1) + 1 - 1))


@pytest.mark.parametrize("temperature", [0.0, 0.6, 1.0, 2.0])
def test_log_probabilities_are_at_the_sampling_temperature(temperature: float) -> None:
    torch.manual_seed(0)
    logits, ids = torch.randn(5, 9), torch.tensor([0, 3, 8, 8, 1])
    expected = (logits / (temperature or 1.0)).log_softmax(-1)[torch.arange(5), ids]
    found, _ = token_logprobs(logits, ids, torch.full((5,), temperature))
    assert torch.allclose(found, expected, atol=1e-6)


def test_divisors() -> None:
    assert divisor("token-mean", tokens=40, episodes=4, length=256) == 40
    assert divisor("dr_grpo", tokens=40, episodes=4, length=256) == 1024
    assert divisor("token-mean", tokens=0, episodes=0, length=256) == 1


def test_a_token_that_has_drifted_far_does_not_give_up_the_step() -> None:
    logp = torch.tensor([-1.0, -500.0], requires_grad=True)
    reference = torch.tensor([-0.5, -1.0])
    still = logp.detach()
    kl = (1.0, reference)
    done = policy_loss(logp, still, still, torch.zeros(2), clipping=CLIPPING, kl=kl)
    done.loss.sum().backward()  # type: ignore[no-untyped-call]
    assert bool(torch.isfinite(done.loss).all()) and logp.grad is not None
    assert logp.grad.tolist() == pytest.approx([1 - math.exp(0.5), 0.0])
    with pytest.raises(ValueError, match="reference that is not finite"):
        policy_loss(*[still] * 3, torch.zeros(2), clipping=CLIPPING, kl=(1.0, one(-math.inf)))
