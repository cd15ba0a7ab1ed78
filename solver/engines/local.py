"""The local engine: one transformers model on this machine behind an asyncio front.

Requests are gathered on the event loop and handed, all that are pending at once, to one worker
thread that owns the model. While callers are counted with :meth:`LocalEngine.client`, a hand-over
waits until each of them has asked: batches are full, and which requests share a batch does not
depend on the clock, so a repeated run repeats every bit. A caller that dawdles longer than
``patience_s`` is not waited for: that cuts a batch by the clock, and its float noise may then
differ from another run's.
"""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from solver.chat import Chat
from solver.config import PolicyConfig
from solver.device import computing, require
from solver.engines.decode import Decoder, Request, Usage
from solver.policy import Completion, Sampling
from solver.versions import version_of
from solver.weights import copy_weights, load_model, read_weights
from spadekit.errors import OurFault


class LocalEngine:
    """A policy served from a model folder. Raises ``BadInput`` for a folder that cannot be used.

    The files of a policy version are checked against their digests whenever it is opened or loaded.
    """

    def __init__(self, model_dir: Path, config: PolicyConfig) -> None:
        self._config = config
        self._version = version_of(model_dir)
        # Before the weights: an unsuitable template is found at once.
        self.chat = Chat.open(model_dir, config.thinking)
        require(config)
        self._model = load_model(model_dir).eval().to(config.device)
        with computing(config):
            self._decoder = Decoder(
                self._model, self.chat.stop_ids, config.cache_mb * 2**20, config.batch_tokens
            )
        self._thread = ThreadPoolExecutor(1, "policy")
        self._pending: list[tuple[Request, asyncio.Future[Completion]]] = []
        self._clients = 0
        self._busy = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def version(self) -> int:
        """The policy version now serving."""
        return self._version

    @classmethod
    def open(cls, model_dir: Path, config: PolicyConfig) -> "LocalEngine":
        """Load a model folder and serve it."""
        return cls(model_dir, config)

    @property
    def context(self) -> int:
        """Positions the model was made for; unbounded when its configuration does not say."""
        return int(getattr(self._model.config, "max_position_embeddings", None) or 2**31)

    @property
    def forward_seconds(self) -> float:
        """Seconds spent in forward passes and sampling since the engine was opened."""
        return self._decoder.usage.forward_s

    @property
    def usage(self) -> Usage:
        """Counters since the engine was opened."""
        return self._decoder.usage

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        """Sample one completion of ``prompt_ids``; see :class:`solver.policy.Policy`."""
        prompt = tuple(prompt_ids)
        if not prompt:
            raise ValueError("an empty prompt cannot be completed")
        if len(prompt) + sampling.max_tokens > self.context:
            raise ValueError(
                f"{len(prompt)} prompt tokens and {sampling.max_tokens} new ones exceed "
                f"the model's context of {self.context}"
            )
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Completion] = loop.create_future()

        def deliver(completion: Completion) -> None:
            loop.call_soon_threadsafe(_resolve, future, completion)

        self._pending.append((Request(prompt, sampling, deliver), future))
        # Callers made ready in the same turn of the loop still get in before this runs.
        loop.call_soon(self._hand_over)
        return await future

    @contextmanager
    def client(self) -> Iterator[None]:
        """Count one more caller that asks again and again while the block runs."""
        self._clients += 1
        try:
            yield
        finally:
            self._clients -= 1
            if self._pending:
                asyncio.get_running_loop().call_soon(self._hand_over)

    async def load(self, version_dir: Path) -> None:
        """Switch to the weights in ``version_dir`` once the batch in progress is done.

        Raises ``BadInput`` before anything is changed when the folder does not fit the running
        model, and ``OurFault`` when it cannot be read within ``policy.load_s``: a disk far away may
        hang. The old weights then go on serving.
        """
        loop, limit = asyncio.get_running_loop(), self._config.load_s
        try:
            async with asyncio.timeout(limit):
                version, weights = await asyncio.to_thread(_read, version_dir)
        except TimeoutError:
            raise OurFault(
                f"{version_dir} was not read within policy.load_s = {limit:g}; the weights of version "
                f"{self._version} go on serving"
            ) from None
        await loop.run_in_executor(self._thread, self._switch, version_dir, version, weights)

    def close(self) -> None:
        """Stop serving; waits for the batch in progress."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _switch(self, version_dir: Path, version: int, weights: dict[str, Any]) -> None:
        copy_weights(version_dir, weights, self._model)
        self._decoder.kept.clear()
        self._version = version

    def _hand_over(self, waited: bool = False) -> None:
        if waited:
            self._timer = None  # it has rung, whether or not anybody still waits
        self._pending = [entry for entry in self._pending if not entry[1].cancelled()]
        if self._busy or not self._pending:
            return
        loop = asyncio.get_running_loop()
        if len(self._pending) < self._clients and not waited:
            if self._timer is None:
                self._timer = loop.call_later(self._config.patience_s, self._hand_over, True)
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        entries, self._pending = self._pending, []
        self._busy = True
        work = loop.run_in_executor(self._thread, self._run, [request for request, _ in entries])
        work.add_done_callback(lambda done: self._handed_back(done, entries))

    def _run(self, requests: list[Request]) -> None:
        # A trainer in this process sets the number for the whole of the arithmetic library.
        torch.set_num_threads(self._config.threads)
        with computing(self._config):
            self._decoder.run(requests, self._config.max_batch, self._version)

    def _handed_back(self, done: "asyncio.Future[None]", entries: list[Any]) -> None:
        self._busy = False
        error = None if done.cancelled() else done.exception()
        for _, future in entries:
            if (error or done.cancelled()) and not future.done():
                fault = OurFault(f"the engine failed while sampling: {error or 'it was closed'}")
                fault.__cause__ = error
                future.set_exception(fault)
        self._hand_over()


def _read(version_dir: Path) -> tuple[int, dict[str, Any]]:
    return version_of(version_dir), read_weights(version_dir)


def _resolve(future: "asyncio.Future[Completion]", completion: Completion) -> None:
    if not future.done():
        future.set_result(completion)
