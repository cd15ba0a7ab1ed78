"""What a step takes of memory: by hand, and what is said when it does not fit."""

from dataclasses import replace

import pytest

from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.footprint import cache_of, cache_room, cluster, local, refusals
from solver.openrlhf.config import ClusterConfig
from solver.shapes import KNOWN

EIGHT = KNOWN["Qwen3-8B"]
NODE = ClusterConfig(gpus=8, engines=8, zero_stage=2, context=8192, gpu_gb=141.0)
TRAIN = TrainConfig()


def test_zero_spreads_what_it_says_it_does() -> None:
    """8.19e9 parameters on eight GPUs: 2 bytes of weights, 2 of gradients, 12 of Adam each."""
    two = cluster(EIGHT, NODE, TRAIN).phases[0].needs
    assert two["weights"] == pytest.approx(16.4e9, rel=0.01)
    assert two["gradients"] == pytest.approx(2.05e9, rel=0.01)
    assert two["optimiser"] == pytest.approx(12.3e9, rel=0.01)
    assert "reference" not in two
    three = cluster(EIGHT, replace(NODE, zero_stage=3), replace(TRAIN, kl=0.01)).phases[0].needs
    assert three["weights"] == three["reference"] == pytest.approx(2.05e9, rel=0.01)
    assert cluster(EIGHT, replace(NODE, offload=True), TRAIN).phases[0].needs["optimiser"] == 0
    assert cluster(EIGHT, replace(NODE, offload=True), TRAIN).host > 98e9


def test_logits_of_a_long_sequence_outweigh_the_model() -> None:
    """32,768 positions x 151,936 symbols x 10 bytes."""
    long = replace(NODE, context=32_768)
    assert cluster(EIGHT, long, TRAIN).phases[0].needs["logits"] == pytest.approx(49.8e9, rel=0.01)


def test_an_engine_keeps_what_is_left_of_its_share() -> None:
    """Half of 141 GB, less 16.4 of weights and 3 of its own; a token takes 147,456 bytes."""
    assert cache_room(EIGHT, NODE) == pytest.approx(70.5e9 - 16.4e9 - 3e9, rel=0.01)
    assert cache_of(EIGHT, 8192, 1) == 8192 * 147_456
    assert cache_of(EIGHT, 8192, 4) == 8192 * 147_456 / 4
    # More parts than key-value heads keep copies.
    assert cache_of(EIGHT, 8192, 16) == 8192 * 147_456 / 8
    assert cache_room(EIGHT, replace(NODE, gpu_gb=16.0)) == 0


def test_what_fits_is_not_refused_and_what_does_not_says_what_to_change() -> None:
    assert refusals(EIGHT, NODE, TRAIN) == []
    said = refusals(EIGHT, replace(NODE, gpu_gb=80.0, context=32_768), TRAIN)
    assert len(said) == 1 and "lower cluster.context" in said[0] and "logits 50" in said[0]
    big = KNOWN["Qwen3-30B-A3B"]
    said = refusals(big, replace(NODE, engines=2, tensor_parallel=4, gpu_gb=80.0), TRAIN)
    assert any("training needs about" in line and "zero_stage = 3" in line for line in said)
    three = replace(NODE, engines=2, tensor_parallel=4, zero_stage=3, gpu_gb=80.0)
    (said_of_adam,) = refusals(big, three, TRAIN)
    assert "cluster.offload = true" in said_of_adam
    assert refusals(big, replace(three, offload=True), TRAIN) == []
    (said_of_cache,) = refusals(EIGHT, replace(NODE, gpu_memory=0.14), TRAIN)
    assert "one sequence of cluster.context = 8192 takes 1.2" in said_of_cache


def test_ranks_that_cannot_be_are_refused() -> None:
    odd = replace(NODE, colocate=False, engines=1, tensor_parallel=3)
    assert any(
        "does not divide the model's 32 heads" in line for line in refusals(EIGHT, odd, TRAIN)
    )
    wide = replace(NODE, nodes=2, engines=1, tensor_parallel=16)
    assert any("more than a machine's" in line for line in refusals(EIGHT, wide, TRAIN))


def test_one_machine_keeps_an_engine_and_a_trainer_and_an_adapter_is_cheaper() -> None:
    """Float32: 4 bytes each of engine, weights and gradients, 8 of each role's Adam."""
    policy, solver = PolicyConfig(), SolverConfig()
    needs = local(EIGHT, policy, TRAIN, solver).phases[0].needs
    assert needs["engine"] == needs["weights"] == needs["gradients"] == 4 * EIGHT.parameters
    assert needs["optimiser"] == 16 * EIGHT.parameters
    shared = (
        local(EIGHT, policy, replace(TRAIN, optimiser="shared", kl=0.1), solver).phases[0].needs
    )
    assert shared["optimiser"] == 8 * EIGHT.parameters and shared["reference"] > 32e9
    adapter = local(EIGHT, policy, replace(TRAIN, lora_rank=16), solver).phases[0].needs
    assert adapter["gradients"] == 4 * 16 * EIGHT.linear_edges < 0.01 * needs["gradients"]
