"""The engines `vllm` and `chat` against a real vLLM server: `make test-vllm` (not part of `make test`).

The server runs from a virtual environment of its own, build/vllm, and serves the embedded policy.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
import torch
from safetensors.torch import load_file, save_file

from sandbox import Message
from solver.config import PolicyConfig, TrainConfig
from solver.engines.chat import ChatEngine
from solver.engines.local import LocalEngine
from solver.engines.untied import untie
from solver.engines.vllm import VllmEngine
from solver.learner import Learner
from solver.manifest import SHIPPED
from solver.policy import Completion, Sampling
from solver.samples import Sample
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault

PYTHON = Path("build/vllm/bin/python")
PORT = 8199
URL = f"http://127.0.0.1:{PORT}"
BRIEFS = [f"design game\nskill {skill}\nlevel 2" for skill in ("memory_recall", "optimisation")]
CLOSE = 2e-4
"""Most that a log-probability of the server may differ from the trainer's, both in float32 (nats)."""


class Server:
    """A real vLLM server that can be killed and started again."""

    def __init__(self, model: Path, *flags: str) -> None:
        self.model, self.flags = model, flags
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        variables = {
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "OMP_WAIT_POLICY": "passive",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_SERVER_DEV_MODE": "1",
        }
        command = [str(PYTHON.absolute()), "-m", "vllm.entrypoints.openai.api_server"]
        command += ["--model", str(self.model), "--served-model-name", "policy"]
        command += ["--host", "127.0.0.1", "--port", str(PORT), "--dtype", "float32"]
        command += ["--enforce-eager", "--max-num-seqs", "64", *self.flags]
        self.process = subprocess.Popen(
            command, env={**os.environ, **variables}, start_new_session=True
        )
        for _ in range(300):
            assert self.process.poll() is None, "the server ended while it started"
            with suppress(httpx2.TransportError):
                if httpx2.get(f"{URL}/health", trust_env=False).status_code == 200:
                    return
            time.sleep(1)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "model"
    untie(SHIPPED, folder)
    return folder


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[Server]:
    server = Server(model, "--logprobs-mode", "processed_logprobs")
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """Version 0 is the shipped policy; version 1 has noise on its weights."""
    versions = Versions(tmp_path_factory.mktemp("home") / "policy")
    first = versions.bootstrap(PolicyConfig())
    torch.manual_seed(0)
    weights = {
        name: value + 0.02 * value.float().std().to(value.dtype) * torch.randn_like(value)
        for name, value in load_file(first / "model.safetensors").items()
    }

    def fill(folder: Path) -> None:
        for path in first.iterdir():
            if path.name not in ("policy.json", "model.safetensors"):
                shutil.copyfile(path, folder / path.name)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        # What a trained version has beside its weights must not disturb the server.
        save_file({"solver/x/exp_avg": torch.zeros(3)}, folder / "optimiser.state")

    versions.publish(PolicyInfo(1, 0, 1, 1, "", {}, {}), fill)
    return versions


def config(**changes: object) -> PolicyConfig:
    return PolicyConfig(**{"engine": "vllm", "url": URL, **changes})  # type: ignore[arg-type]


async def wave(
    engine: VllmEngine, temperature: float, count: int = 32
) -> tuple[list[list[int]], list[Completion]]:
    prompts = [engine.chat.start([Message("user", BRIEFS[i % len(BRIEFS)])]) for i in range(count)]
    done = await asyncio.gather(
        *(
            engine.complete(ids, Sampling(temperature, 300, seed))
            for seed, ids in enumerate(prompts)
        )
    )
    return prompts, list(done)


def greatest_difference(
    folder: Path, prompts: list[list[int]], done: list[Completion], temperature: float
) -> float:
    """Between the server's log-probabilities and those of the trainer's own forward pass."""
    samples = [
        Sample(
            "",
            "",
            (*prompt, *one.ids),
            (0,) * len(prompt) + (1,) * len(one.ids),
            (0.0,) * len(prompt) + one.logprobs,
            0.0,
            temperature or 1.0,
            0,
        )
        for prompt, one in zip(prompts, done, strict=True)
    ]
    expected = torch.cat(Learner(folder, {"shared": 0.0}, TrainConfig()).logprobs(samples))
    got = torch.tensor([value for one in done for value in one.logprobs])
    return float((expected - got).abs().max())


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
async def test_log_probabilities_are_those_that_the_trainer_computes(
    temperature: float, server: Server, versions: Versions
) -> None:
    engine = await VllmEngine.open(versions.path(0), config(), print)
    prompts, done = await wave(engine, temperature)
    await engine.close()
    difference = greatest_difference(versions.path(0), prompts, done, temperature)
    sys.stderr.write(f"temperature {temperature}: greatest difference {difference:.1e} nats\n")
    assert difference < CLOSE
    assert all(one.stop == "length" or one.ids[-1] in engine.chat.stop_ids for one in done)


async def test_greedy_replies_are_those_of_the_local_engine(
    server: Server, versions: Versions
) -> None:
    local = LocalEngine.open(versions.path(0), PolicyConfig())
    engine = await VllmEngine.open(versions.path(0), config(), print)
    prompts, done = await wave(engine, 0.0, count=2)
    for ids, one in zip(prompts, done, strict=True):
        assert (await local.complete(ids, Sampling(0.0, 300, 0))).ids == one.ids
    await engine.close()
    local.close()


async def test_weights_are_switched_to_and_fro_and_after_a_failure_put_back(
    server: Server, versions: Versions, tmp_path: Path
) -> None:
    engine = await VllmEngine.open(versions.path(0), config(), print)
    await engine.load(versions.path(1))
    prompts, done = await wave(engine, 0.7)
    assert {one.version for one in done} == {1}
    assert greatest_difference(versions.path(1), prompts, done, 0.7) < CLOSE
    assert greatest_difference(versions.path(0), prompts, done, 0.7) > 10 * CLOSE

    # Tensors that nobody knows: the engine's own check would not let them pass, so go around it.
    bad = tmp_path / "v000002"
    shutil.copytree(versions.path(0), bad, ignore=shutil.ignore_patterns("policy.json"))
    save_file({"unknown.weight": torch.zeros(3)}, bad / "model-extra.safetensors")
    with pytest.raises(BadInput, match="unknown"):
        await engine.load(bad)
    with pytest.raises(OurFault, match="go on serving"):
        await engine._weights.switch(bad, "v000002 bad")
    prompts, done = await wave(engine, 0.7)
    assert {one.version for one in done} == {1}
    assert greatest_difference(versions.path(1), prompts, done, 0.7) < CLOSE
    await engine.load(versions.path(0))
    prompts, done = await wave(engine, 0.7)
    assert greatest_difference(versions.path(0), prompts, done, 0.7) < CLOSE
    await engine.close()


async def test_a_server_killed_and_started_again_serves_the_version_it_had(
    server: Server, versions: Versions
) -> None:
    engine = await VllmEngine.open(versions.path(1), config(outage_s=400.0), print)
    task = asyncio.create_task(wave(engine, 0.7))
    await asyncio.sleep(0.5)
    server.kill()
    await asyncio.to_thread(server.start)
    prompts, done = await task
    assert greatest_difference(versions.path(1), prompts, done, 0.7) < CLOSE
    await engine.close()


async def test_the_text_engine_talks_to_the_same_server(server: Server, tmp_path: Path) -> None:
    settings = config(engine="chat", url=f"{URL}/v1", model="policy")
    folder = Versions(tmp_path).bootstrap(settings)
    engine = await ChatEngine.open(folder, settings, print)
    ids = engine.chat.start([Message("user", BRIEFS[0])])
    done = await engine.complete(ids, Sampling(0.0, 300, 0))
    assert "```python" in engine.chat.decode(done.ids)
    over = engine.chat.start([Message("user", "lock " * 3000)])
    assert (await engine.complete(over, Sampling(0.0, 300, 0))).stop == "length"
    await engine.close()


def test_two_rounds_of_self_play_run_on_the_server(server: Server, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spadework", "loop", "--rounds", "2", "--json"]
    command += [
        "--home",
        str(tmp_path),
        "--set",
        "policy.engine=vllm",
        "--set",
        f"policy.url={URL}",
    ]
    command += ["--set", "producer.designs=8", "--set", "probe.plays=2", "--set", "train.groups=4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "loads v000001" in done.stderr
    rounds = json.loads(done.stdout)
    assert [one["policy_version"] for one in rounds] == [0, 1]
    assert sum(one["valid"] for one in rounds) > 4


async def test_a_server_with_raw_log_probabilities_is_refused(
    server: Server, model: Path, versions: Versions
) -> None:
    server.kill()
    raw = Server(model)
    raw.start()
    try:
        with pytest.raises(BadInput, match="processed_logprobs"):
            await VllmEngine.open(versions.path(0), config(), print)
    finally:
        raw.kill()
