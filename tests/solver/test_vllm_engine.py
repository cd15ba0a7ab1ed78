"""The engine ``vllm`` against a server on loopback that speaks vLLM's protocol and dies as it does.

``tests/solver/vllm_server.py`` runs the same engine against a real server.
"""

import asyncio
import json
import os
import shutil
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from solver.config import PolicyConfig
from solver.engines import http, open_policy
from solver.engines.untied import untie
from solver.engines.vllm import VllmEngine
from solver.policy import Sampling
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault

SAMPLING = Sampling(0.7, 8, 5)
NOT_FOUND = {"status": 404, "value": {"detail": "Not Found"}}
PROMPT = [20, 30, 40]


@dataclass
class Vllm:
    """What the server does: weights in one of three states, as a reload leaves them."""

    root: Path
    tokenizer: Any
    developer: bool = True
    processed: bool = True
    logprobs: bool = True
    device: str = "cuda"
    stamp: str = "default"
    weights: Path | None = None
    paused: bool = False
    dead: bool = False
    refuses: str = ""
    """A folder name that it cannot load."""
    slow_s: float = 0.0
    sticks: str = ""
    """A folder name whose loading takes 3 s."""
    aborts: int = 0
    hangs_up: bool = False
    """Whether the connection closes at the next request, as after an error."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def restart(self) -> None:
        self.dead, self.paused, self.stamp, self.weights = False, False, "default", self.root

    def __call__(self, served: Any, request: Any) -> Any:
        if self.dead or self.hangs_up:
            self.hangs_up = False
            return None
        path = request.path.partition("?")[0]
        if path == "/v1/models":
            return {
                "data": [{"id": "m", "parent": None, "root": str(self.root), "max_model_len": 512}]
            }
        if path == "/tokenize":
            return {
                "tokens": self.tokenizer.encode(request.body["prompt"], add_special_tokens=False)
            }
        if path == "/v1/completions":
            return self._complete(request.body)
        return self._developer(path, request.body) if self.developer else NOT_FOUND

    def _developer(self, path: str, body: Any) -> Any:
        if path == "/server_info":
            return {"vllm_config": {"device_config": {"device": self.device}}}
        if path == "/weight_info":
            return {"weight_version": self.stamp}
        if path == "/update_weight_version":
            self.stamp = body["new_version"]
        elif path == "/collective_rpc":
            with self.lock:
                return self._load(Path(body["kwargs"]["weights_path"]))
        elif path in ("/pause", "/resume"):
            self.paused = path == "/pause"
        return {"ok": True}

    def _load(self, folder: Path) -> Any:
        time.sleep(3.0 if folder.name == self.sticks else 0.0)
        if not folder.is_dir() or folder.name == self.refuses:
            self.weights = None  # meta tensors: the next request kills it
            self.hangs_up = True
            return {"status": 500, "value": {"error": {"message": "Worker failed"}}}
        self.weights = folder
        return {"results": [None]}

    def _complete(self, body: Any) -> Any:
        time.sleep(self.slow_s)
        if self.weights is None:
            self.dead = True
            return None
        if self.aborts:
            self.aborts -= 1
            return {"choices": [{"finish_reason": "abort", "token_ids": [], "logprobs": None}]}
        scale = body["temperature"] if self.processed else 1.0
        number = int(self.weights.name[1:7]) if self.weights.name[1:7].isdigit() else 0
        ids = [60 + number, self.tokenizer.eos_token_id]
        finish = "stop"
        if body["max_tokens"] == 1:
            ids, finish = ids[:1], "length"
        top = {"token_id:60": -0.5 / scale, "token_id:61": -2.5 / scale}
        logprobs = {"token_logprobs": [-0.5] * len(ids), "top_logprobs": [top] * len(ids)}
        choice = {
            "token_ids": ids,
            "prompt_token_ids": body["prompt"],
            "logprobs": logprobs if self.logprobs else None,
            "finish_reason": finish,
        }
        return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


@pytest.fixture
def versions(model_dir: Path, tmp_path: Path) -> Versions:
    """Version 0, version 1 with other weights, and version 2 with weights that do not fit."""
    versions = Versions(tmp_path / "policy")
    first = versions.bootstrap(PolicyConfig(model=str(model_dir)))
    weights = load_file(first / "model.safetensors")

    def write(number: int, parent: int | None, changed: dict[str, torch.Tensor]) -> None:
        def fill(folder: Path) -> None:
            for path in first.iterdir():
                if path.name not in ("policy.json", "model.safetensors"):
                    shutil.copyfile(path, folder / path.name)
            save_file(changed, folder / "model.safetensors", metadata={"format": "pt"})

        versions.publish(PolicyInfo(number, parent, number, number, "", {}, {}), fill)

    write(1, 0, {name: value + 0.05 for name, value in weights.items()})
    # Without a parent nothing is compared when it is published.
    write(2, None, weights | {"model.norm.weight": torch.ones(7)})
    return versions


@pytest.fixture
def vllm(model_dir: Path) -> Vllm:
    return Vllm(model_dir, AutoTokenizer.from_pretrained(model_dir), weights=model_dir)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "FIRST_PAUSE_S", 0.02)


@asynccontextmanager
async def opened(folder: Path, url: str, **changes: Any) -> AsyncIterator[VllmEngine]:
    settings = {"timeout_s": 5.0, "outage_s": 3.0, "load_s": 5.0} | changes
    config = PolicyConfig(engine="vllm", url=url, **settings)
    engine = await VllmEngine.open(folder, config, lambda _: None)
    try:
        yield engine
    finally:
        await engine.close()


def calls(served: Any) -> list[str]:
    return [one.path for one in served.asked if one.method == "POST"]


async def test_ids_go_out_and_come_back_with_their_log_probabilities_and_version(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(1), served.url) as engine:
            done = await engine.complete(PROMPT, SAMPLING)
    assert (done.ids, done.stop, done.version) == ((61, vllm.tokenizer.eos_token_id), "end", 1)
    assert done.logprobs == (-0.5, -0.5)
    assert engine.context == 512
    body = served.asked[-1].body
    assert body["prompt"] == PROMPT and body["return_token_ids"] is True
    # What is left out a server takes from the model's generation_config.json.
    assert [body[name] for name in ("top_p", "top_k", "min_p", "repetition_penalty")] == [
        1,
        0,
        0,
        1,
    ]
    assert vllm.weights == versions.path(1)


async def test_a_switch_waits_for_what_is_being_sampled_and_holds_what_comes(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url) as engine:
            vllm.slow_s = 1.0
            before = asyncio.create_task(engine.complete(PROMPT, SAMPLING))
            await asyncio.sleep(0.1)
            load = asyncio.create_task(engine.load(versions.path(1)))
            while not engine._gate.locked():  # noqa: ASYNC110 - it reads the files first
                await asyncio.sleep(0.01)
            after = asyncio.create_task(engine.complete(PROMPT, SAMPLING))
            await load
            assert before.done()
            done = [await before, await after]
    assert [one.version for one in done] == [0, 1]
    assert [one.ids[0] for one in done] == [60, 61]
    assert calls(served)[-8:] == [
        "/v1/completions",
        "/pause?mode=wait",
        "/update_weight_version",
        "/collective_rpc",
        "/reset_prefix_cache",
        "/update_weight_version",
        "/resume",
        "/v1/completions",
    ]


async def test_weights_that_the_server_has_are_not_loaded_again(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(1), served.url) as engine:
            await engine.load(versions.path(1))
        async with opened(versions.path(1), served.url):
            pass
    assert calls(served).count("/collective_rpc") == 1


async def test_after_a_failed_switch_the_old_weights_serve_and_the_server_lives(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url) as engine:
            vllm.refuses = "v000001"
            with pytest.raises(OurFault, match="v000001.*the weights before it go on serving"):
                await engine.load(versions.path(1))
            done = await engine.complete(PROMPT, SAMPLING)
            assert (done.version, done.ids[0], engine.version) == (0, 60, 0)
            vllm.refuses = ""
            await engine.load(versions.path(1))
            assert (await engine.complete(PROMPT, SAMPLING)).version == 1
    assert not vllm.dead


async def test_a_switch_has_a_deadline(serve: Any, vllm: Vllm, versions: Versions) -> None:
    vllm.sticks = "v000001"
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url, load_s=2.0) as engine:
            with pytest.raises(OurFault, match=r"not within policy\.load_s.*go on serving"):
                await engine.load(versions.path(1))
            assert (await engine.complete(PROMPT, SAMPLING)).ids[0] == 60


async def test_each_part_of_a_switch_has_the_deadline(
    serve: Any, vllm: Vllm, versions: Versions, tmp_path: Path
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url, load_s=2.0) as engine:
            record = tmp_path / "policy.json"
            os.mkfifo(record)  # a disk that hangs: whoever reads it waits for a writer
            with pytest.raises(
                OurFault, match=r"was not read within policy\.load_s.*go on serving"
            ):
                await engine.load(tmp_path)
            os.close(os.open(record, os.O_WRONLY))
            vllm.slow_s = 4.0
            sampling = asyncio.create_task(engine.complete(PROMPT, SAMPLING))
            await asyncio.sleep(0.1)
            with pytest.raises(OurFault, match=r"did not end within policy\.load_s.*go on serving"):
                await engine.load(versions.path(1))
            assert (await sampling).version == 0
            vllm.slow_s = 0.0
            assert (await engine.complete(PROMPT, SAMPLING)).ids[0] == 60
    assert calls(served).count("/collective_rpc") == 1


async def test_one_server_serves_one_process_of_a_home(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served, serve(vllm) as second:
        config = PolicyConfig(engine="vllm", url=served.url, timeout_s=5.0)
        other = replace(config, url=second.url)
        async with open_policy(versions.path(0), config, lambda _: None):
            asked = len(served.asked)
            with pytest.raises(BadInput, match="another process samples .* second server"):
                async with open_policy(versions.path(1), config, lambda _: None):
                    pass
            assert len(served.asked) == asked
            async with open_policy(versions.path(0), other, lambda _: None):
                pass
        async with open_policy(versions.path(1), config, lambda _: None) as policy:
            assert policy.version == 1


async def test_weights_of_another_shape_and_damaged_ones_never_reach_the_server(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url) as engine:
            asked = len(served.asked)
            with pytest.raises(BadInput, match=r"model\.norm\.weight"):
                await engine.load(versions.path(2))
            path = versions.path(1) / "model.safetensors"
            path.write_bytes(path.read_bytes()[:1000])
            with pytest.raises(BadInput, match=r"model\.safetensors is damaged"):
                await engine.load(versions.path(1))
            assert len(served.asked) == asked
            assert (await engine.complete(PROMPT, SAMPLING)).version == 0


async def test_a_server_that_comes_back_gets_its_weights_before_the_next_sample(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(1), served.url) as engine:
            vllm.restart()  # between two requests
            assert (await engine.complete(PROMPT, SAMPLING)).ids[0] == 61
            vllm.dead = True  # and under some
            tasks = [asyncio.create_task(engine.complete(PROMPT, SAMPLING)) for _ in range(5)]
            await asyncio.sleep(0.2)
            vllm.restart()
            assert {(await task).ids[0] for task in tasks} == {61}


async def test_a_server_left_in_the_middle_of_a_switch_is_set_right(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    vllm.paused, vllm.weights, vllm.stamp = True, None, "spadework: switching"
    with serve(vllm) as served:
        async with opened(versions.path(1), served.url) as engine:
            assert (await engine.complete(PROMPT, SAMPLING)).ids[0] == 61
    assert not vllm.paused


async def test_a_request_that_the_server_gave_up_is_sent_again(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url) as engine:
            vllm.aborts = 2
            assert (await engine.complete(PROMPT, SAMPLING)).stop == "end"


async def test_a_server_that_cannot_switch_serves_only_what_it_was_started_with(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    vllm.developer = False
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url) as engine:
            assert (await engine.complete(PROMPT, SAMPLING)).version == 0
            with pytest.raises(BadInput, match="VLLM_SERVER_DEV_MODE"):
                await engine.load(versions.path(1))
        with pytest.raises(BadInput, match="VLLM_SERVER_DEV_MODE"):
            async with opened(versions.path(1), served.url):
                pass


async def test_another_model_or_tokenizer_or_useless_log_probabilities_are_refused(
    serve: Any, vllm: Vllm, versions: Versions, model_dir: Path, tmp_path: Path
) -> None:
    async def refusal(reason: str) -> None:
        with serve(vllm) as served, pytest.raises(BadInput, match=reason):
            async with opened(versions.path(0), served.url):
                pass

    vllm.processed = False
    await refusal("--logprobs-mode processed_logprobs")
    vllm.processed, vllm.logprobs = True, False
    await refusal("no token ids and log-probabilities")
    vllm.logprobs = True
    words, vllm.tokenizer = vllm.tokenizer, ReversedTokenizer(vllm.tokenizer)
    await refusal("another tokenizer")
    vllm.tokenizer = words
    shutil.copytree(model_dir, tmp_path / "other")
    config = json.loads((model_dir / "config.json").read_text())
    (tmp_path / "other" / "config.json").write_text(json.dumps(config | {"hidden_size": 64}))
    vllm.root = tmp_path / "other"
    await refusal("another model.*hidden_size = 64")


class ReversedTokenizer:
    def __init__(self, tokenizer: Any) -> None:
        self.encoded = tokenizer.encode
        self.eos_token_id = tokenizer.eos_token_id

    def encode(self, text: str, **options: Any) -> list[int]:
        return list(self.encoded(text, **options))[::-1]


async def test_prompts_that_cannot_be_completed_are_refused(
    serve: Any, vllm: Vllm, versions: Versions
) -> None:
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url) as engine:
            with pytest.raises(ValueError, match="empty"):
                await engine.complete([], SAMPLING)
            with pytest.raises(ValueError, match="context of 512"):
                await engine.complete([20] * 505, SAMPLING)


async def test_a_tied_output_layer_is_untied_for_a_server_on_a_cpu(
    serve: Any, vllm: Vllm, versions: Versions, tmp_path: Path
) -> None:
    vllm.device = "cpu"
    with serve(vllm) as served, pytest.raises(BadInput, match=r"python -m solver\.engines\.untied"):
        async with opened(versions.path(0), served.url):
            pass
    vllm.root = tmp_path / "untied"
    untie(versions.path(0), vllm.root)
    vllm.weights = vllm.root
    with serve(vllm) as served:
        async with opened(versions.path(0), served.url) as engine:
            await engine.load(versions.path(1))
            assert (await engine.complete(PROMPT, SAMPLING)).version == 1
    assert vllm.weights.parent == versions.root / "served"
    head = load_file(vllm.weights / "lm_head.safetensors")["lm_head.weight"]
    embedding = load_file(versions.path(1) / "model.safetensors")["model.embed_tokens.weight"]
    assert torch.equal(head, embedding)
    assert versions.all() == [0, 1, 2]
    (view,) = (versions.root / "served").iterdir()
    assert view.name.startswith("v000001-")
