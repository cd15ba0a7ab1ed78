"""The weights that a vLLM server serves, switched in place over its development endpoints.

    pause ─► stamp "switching" ─► reload ─► drop the prefix cache ─► stamp ─► resume

A reload that fails leaves a server that dies at its next request, so the last good weights are put
back before it is resumed. The stamp names the weights by their digest and is the server's own: one
that was restarted, or switched by somebody else, has another.
"""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver.engines.http import Endpoint, Refused
from solver.engines.untied import HEAD, is_tied, untie
from solver.validation import odd_weight
from solver.versions import INFO, PolicyInfo, file_digest
from solver.weights import MEND, weight_files
from spadekit.errors import BadInput, OurFault

SWITCHING = "spadework: switching"
QUICK_S = 30.0
"""Longest time for an answer that takes no work."""
VIEWS = "served"
"""Folder beside the versions for what a server is shown instead of them."""
HOW = "start it with VLLM_SERVER_DEV_MODE=1 in its environment"


class ServedWeights:
    """What ``endpoint`` serves. ``root`` is the folder that the server was started with."""

    def __init__(self, endpoint: Endpoint, root: Path, note: Callable[[str], None]) -> None:
        self._endpoint = endpoint
        self._root = root
        self._note = note
        self._good: tuple[Path, str] | None = None
        """Folder and stamp of the weights that are known to serve."""
        self.switchable = False

    async def begin(self, folder: Path) -> None:
        """Find out whether weights can be switched.

        Raises ``BadInput`` where a switch to ones like those in ``folder`` would be half a switch.
        """
        try:
            await self.stamp()
            path = "/server_info?config_format=json"
            answer = await self._endpoint.once("GET", path, timeout_s=QUICK_S)
        except Refused:
            return
        self.switchable = True
        device = answer["vllm_config"]["device_config"]["device"]
        if device == "cpu" and not self.untied and await asyncio.to_thread(is_tied, folder):
            raise BadInput(
                f"{self._endpoint.url} runs on a CPU, where a switch of weights leaves a tied output "
                f"layer as it was: start it with the folder that `python -m solver.engines.untied "
                f"{folder} OUT` writes"
            )
        if weight_files(self._root):
            self._good = (self._root, "default")

    @property
    def untied(self) -> bool:
        """Whether the server was started with an output layer of its own (``solver.engines.untied``)."""
        return (self._root / HEAD).is_file()

    async def stamp(self) -> str:
        """The server's name for what it serves."""
        answer = await self._endpoint.once("GET", "/weight_info", timeout_s=QUICK_S)
        return str(answer["weight_version"])

    async def serving(self, folder: Path, stamp: str) -> None:
        """Take note of weights that the server is found to serve already."""
        self._good = (await asyncio.to_thread(self._shown, folder, stamp), stamp)

    def check(self, folder: Path) -> str:
        """Check a folder before it is shown to the server; return its stamp.

        Raises ``BadInput`` for damaged files and for weights of another shape than those in use.
        """
        info = PolicyInfo.validated(folder) if (folder / INFO).exists() else None
        if self._good is not None and (odd := odd_weight(folder, self._good[0])):
            raise BadInput(
                f"{folder}: its weights are not those of the model that {self._endpoint.url} serves "
                f"({odd}); serve the model of this home, or {MEND}"
            )
        return stamp_of(folder, info)

    def same_as_root(self, folder: Path) -> bool:
        """Whether the server was started with exactly these weights, as far as can be seen here."""
        mine, its = (
            {path.name: file_digest(path) for path in weight_files(where)}
            for where in (folder, self._root)
        )
        return bool(mine) and mine == its

    async def switch(self, folder: Path, stamp: str) -> None:
        """Serve the weights in ``folder``, which :meth:`check` let pass.

        Raises ``OurFault`` when that fails or takes longer than ``load_s``. The last good weights
        then serve again, or, where they could not be put back, the message says to restart the server.
        """
        limit = self._endpoint.config.load_s
        shown = await asyncio.to_thread(self._shown, folder, stamp)
        self._note(f"policy: {self._endpoint.url} loads {folder.name}")
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(limit):
                await self._put(shown, stamp)
        except (Refused, OurFault, TimeoutError) as error:
            why = (
                f"not within policy.load_s = {limit:g}"
                if isinstance(error, TimeoutError)
                else error
            )
            what = f"{self._endpoint.url} did not load {folder} ({str(why)[:300]})"
            await self._put_back(what)
            raise OurFault(
                f"{what}; the weights before it go on serving. The server must see that folder "
                "under the same path"
            ) from error
        self._good = (shown, stamp)
        await asyncio.to_thread(self._tidy, shown)
        self._note(
            f"policy: {self._endpoint.url} serves {folder.name} ({loop.time() - began:.1f} s)"
        )

    async def _put_back(self, what: str) -> None:
        if self._good is None:
            raise OurFault(f"{what}, and no earlier weights are known: restart the server")
        try:
            async with asyncio.timeout(self._endpoint.config.load_s):
                await self._put(*self._good)
        except (Refused, OurFault, TimeoutError) as error:
            raise OurFault(
                f"{what}, nor did it take back {self._good[0]}: restart the server"
            ) from error

    async def _put(self, folder: Path, stamp: str) -> None:
        await self._tell("/pause?mode=wait", {})
        await self._tell("/update_weight_version", {"new_version": SWITCHING})
        await self._tell("/collective_rpc", _reload(folder))
        await self._tell("/reset_prefix_cache", {})
        await self._tell("/update_weight_version", {"new_version": stamp})
        await self._tell("/resume", {})

    def _shown(self, folder: Path, stamp: str) -> Path:
        """The folder that the server is to read a version from."""
        if not self.untied:
            return folder
        view = folder.parent / VIEWS / stamp.replace(" ", "-")
        if not view.is_dir():
            untie(folder, view)
        return view

    def _tidy(self, shown: Path) -> None:
        """Remove the untied folders of versions that are not served any more."""
        if shown.parent.name == VIEWS:
            for view in shown.parent.glob("v*"):
                if view != shown:
                    shutil.rmtree(view, ignore_errors=True)

    async def _tell(self, path: str, body: Any) -> None:
        limit = self._endpoint.config.load_s
        await self._endpoint.once("POST", path, body, timeout_s=limit, tries=3)


def _reload(folder: Path) -> dict[str, Any]:
    return {"method": "reload_weights", "kwargs": {"weights_path": str(folder.absolute())}}


def stamp_of(folder: Path, info: PolicyInfo | None) -> str:
    """Name a folder's weights: its name for people, the digest for certainty."""
    if info is None:
        digest = "".join(file_digest(path) for path in weight_files(folder))
        return f"{folder.name} {digest[:16]}"
    return f"{folder.name} {info.weights[:16]}"
