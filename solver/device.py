"""Where forward passes run and in what precision: on the CPU or on one GPU, in float32 or bfloat16."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from solver.config import PolicyConfig
from spadekit.errors import BadInput


def require(policy: PolicyConfig) -> None:
    """Raise ``BadInput`` for a GPU that is not there."""
    if policy.device == "cuda" and not torch.cuda.is_available():
        raise BadInput("policy.device = cuda, but torch sees no GPU here; set it to cpu")


@contextmanager
def computing(policy: PolicyConfig) -> Iterator[None]:
    """Make new tensors on the policy's device, and compute layers in its precision, in this thread."""
    with ExitStack() as stack:
        if policy.device != "cpu":
            stack.enter_context(torch.device(policy.device))
        if policy.dtype == "bfloat16":
            stack.enter_context(torch.autocast(policy.device, torch.bfloat16))
        yield
