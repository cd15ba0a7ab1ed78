"""Engines: what makes a policy of a model folder, of a vLLM server, or of a text endpoint."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from solver.config import PolicyConfig
from solver.policy import Policy

if TYPE_CHECKING:
    from solver.engines.chat import ChatEngine
    from solver.engines.vllm import VllmEngine

Note = Callable[[str], None]


@asynccontextmanager
async def open_policy(folder: Path, config: PolicyConfig, note: Note) -> AsyncIterator[Policy]:
    """Serve the policy version in ``folder`` with the configured engine while the block runs.

    ``note`` is told what takes long and, at the end, what went over the wire. Raises ``BadInput`` for
    a folder, a server or an endpoint that cannot be used.
    """
    if config.engine == "local":
        from solver.engines.local import LocalEngine

        local = LocalEngine.open(folder, config)
        try:
            yield local
        finally:
            local.close()
    else:
        remote = await _reach(folder, config, note)
        try:
            yield remote
        finally:
            note(f"policy: {remote.traffic()}")
            await remote.close()


async def _reach(folder: Path, config: PolicyConfig, note: Note) -> "VllmEngine | ChatEngine":
    # Each engine brings its libraries in, which take their time.
    if config.engine == "vllm":
        from solver.engines.vllm import VllmEngine

        return await VllmEngine.open(folder, config, note)
    from solver.engines.chat import ChatEngine

    return await ChatEngine.open(folder, config, note)
