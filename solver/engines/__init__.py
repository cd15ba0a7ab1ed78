"""Engines: what makes a policy of a model folder, of a vLLM server, or of a text endpoint."""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from solver.config import PolicyConfig
from solver.policy import Policy
from spadekit.files import exclusive

if TYPE_CHECKING:
    from solver.engines.chat import ChatEngine
    from solver.engines.vllm import VllmEngine

Note = Callable[[str], None]


@asynccontextmanager
async def open_policy(folder: Path, config: PolicyConfig, note: Note) -> AsyncIterator[Policy]:
    """Serve the policy version in ``folder`` with the configured engine while the block runs.

    ``note`` is told what takes long and, at the end, what went over the wire. Raises ``BadInput`` for
    a folder, a server or an endpoint that cannot be used, and for a vLLM server that another process
    of this home uses: each would switch the weights that the other believes it samples from.
    """
    if config.engine == "local":
        from solver.engines.local import LocalEngine

        local = LocalEngine.open(folder, config)
        _tell(local, note)
        try:
            yield local
        finally:
            local.close()
        return
    with _alone(folder, config) if config.engine == "vllm" else nullcontext():
        remote = await _reach(folder, config, note)
        _tell(remote, note)
        try:
            yield remote
        finally:
            note(f"policy: {remote.traffic()}")
            await remote.close()


def _tell(policy: Policy, note: Note) -> None:
    """Say what a chat template costs: prompts that are read, and trained behind, once for each turn."""
    if policy.chat.separate:
        note(
            f"policy: the chat template {policy.chat.separate}, so every turn is played and trained as a "
            "sequence of its own, prompt and all"
        )


def _alone(folder: Path, config: PolicyConfig) -> AbstractContextManager[None]:
    """Be the one process of a home that uses a server; its lock lies beside the versions."""
    name = hashlib.sha256(config.url.rstrip("/").encode()).hexdigest()[:12]
    return exclusive(
        folder.parent / f"server-{name}.lock",
        f"another process samples from {config.url}, and one server serves one process: start a "
        "second server and name it with policy.url",
    )


async def _reach(folder: Path, config: PolicyConfig, note: Note) -> "VllmEngine | ChatEngine":
    # Each engine brings its libraries in, which take their time.
    if config.engine == "vllm":
        from solver.engines.vllm import VllmEngine

        return await VllmEngine.open(folder, config, note)
    from solver.engines.chat import ChatEngine

    return await ChatEngine.open(folder, config, note)
