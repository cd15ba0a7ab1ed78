"""Pre-training end to end in small: a run, its resumption, its export; novelty."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from solver import manifest
from solver.embedded import novelty, pretrain
from solver.embedded.muon import orthogonal


def test_a_run_goes_on_from_its_checkpoint_and_exports_a_policy(tmp_path: Path) -> None:
    recipe = pretrain.Recipe(seed=1, steps=4, out=tmp_path / "run", ranks=1, tokens=600)
    pretrain.run(recipe)
    first = torch.load(tmp_path / "run" / "state.pt", weights_only=True)["progress"]
    pretrain.run(replace(recipe, steps=8))
    second = torch.load(tmp_path / "run" / "state.pt", weights_only=True)["progress"]
    assert (first["step"], second["step"]) == (4, 8)
    assert second["tokens"] > first["tokens"]
    policy = tmp_path / "run" / "policy"
    assert manifest.problems(policy) == []
    facts = novelty.shipped_facts(policy)
    assert facts["seed"] == 1
    assert set(facts["loss"]) == {"designer", "solver"}


def test_the_same_seed_makes_the_same_untrained_weights_and_batches(tmp_path: Path) -> None:
    fast = pretrain.AutoTokenizer.from_pretrained(manifest.SHIPPED, local_files_only=True)
    one, two = pretrain.build_model(5, fast), pretrain.build_model(5, fast)
    for left, right in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(left, right)
    recipe = pretrain.Recipe(seed=5, steps=1, out=tmp_path, tokens=600)
    encode = pretrain.data.Encoder(fast)
    batches = [pretrain.Batches(recipe, "solver", 0, encode, 3) for _ in range(2)]
    assert [batches[0].next() for _ in range(5)] == [batches[1].next() for _ in range(5)]


def test_orthogonal_brings_singular_values_near_one() -> None:
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonal(torch.randn(3, 8, 20)))
    assert values.min() > 0.5
    assert values.max() < 1.4


SOURCE = '''class AEnv:
    """A title."""

    def reset(self, seed=None):
        first = 3
        return str(first), {}
'''


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (("A title", "Another title"), True),
        (("first", "second"), True),
        (("AEnv", "BEnv"), True),
        (("= 3", "= 4"), False),
        (("str(first)", "repr(first)"), True),
        (("return str(first), {}", "return str(first) * 2, {}"), False),
    ],
)
def test_novelty_forgets_names_and_titles_but_not_constants_or_structure(
    change: tuple[str, str], same: bool
) -> None:
    changed = novelty.digest(SOURCE.replace(*change))
    assert (changed == novelty.digest(SOURCE)) is same


@pytest.mark.parametrize("role", pretrain.POOL)
def test_what_counts_as_trained_on_is_as_much_as_the_batches_hold(
    role: str, tmp_path: Path
) -> None:
    recipe = pretrain.Recipe(0, 1, tmp_path)
    batches = pretrain.Batches(recipe, role, 0, lambda _: ([1], [1]), 0)
    rows = 0
    while batches.pool < 2:
        batch = batches.next()
        rows += len(batch) if batches.pool < 2 else 0
    assert novelty.shipped_facts()["pool_size"][role] == rows
