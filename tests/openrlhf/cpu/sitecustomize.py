"""Lets OpenRLHF 0.11.2 train on a CPU: for tests only, and only where this folder is on PYTHONPATH.

OpenRLHF names CUDA outright in a few places. Each is mended right after its module is imported, in every
process of the run, Ray's workers included. What is not exercised this way: NCCL and CUDA IPC (weights go
from trainer to engines through a folder), flash attention, packing, sleeping, more than one process that
trains.
"""

import importlib.abc
import importlib.util
import sys

DEVICES = 2  # made up: one for the trainer, one for the engine


class Device(str):
    """The current device: `cpu`, but 0 where it is put into `cuda:{...}`."""

    def __format__(self, _):
        return "0"


def torch_(torch):
    torch.cuda.current_device = lambda: Device("cpu")
    torch.cuda.device_count = lambda: DEVICES
    for name in ("synchronize", "empty_cache", "set_device"):
        setattr(torch.cuda, name, lambda *_, **__: None)


def device_mesh(module):
    original = module.init_device_mesh
    module.init_device_mesh = lambda _, *args, **kwargs: original("cpu", *args, **kwargs)


def ppo_actor(module):
    def broadcast_to_vllm(self):
        import shutil
        import tempfile

        import ray

        folder = tempfile.mkdtemp(prefix="weights-")
        self.strategy.save_model(self.actor, self.tokenizer, folder)
        ray.get([one.update_weight.remote(folder, None, None) for one in self.vllm_engines])
        shutil.rmtree(folder)

    module.ActorPPOTrainer._init_vllm_sync_group = lambda self, backend: None
    module.ActorPPOTrainer.broadcast_to_vllm = broadcast_to_vllm


def vllm_engine(module):
    async def update_weight(self, name, dtype, shape, empty_cache=False):
        await self.llm.collective_rpc("reload_weights", kwargs={"weights_path": name})
        await self.llm.reset_prefix_cache()

    # Ray sends this class to its workers by value.
    module.RolloutRayActor.__ray_metadata__.modified_class.update_weight = update_weight


MENDED = {
    "torch": torch_,
    "torch.distributed.device_mesh": device_mesh,
    "openrlhf.trainer.ray.ppo_actor": ppo_actor,
    "openrlhf.trainer.ray.vllm_engine": vllm_engine,
}


class Mending(importlib.abc.MetaPathFinder):
    """Calls a function on a module right after it has been imported."""

    looking = False

    def find_spec(self, name, path, target=None):
        if self.looking or name not in MENDED:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            MENDED[name](module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Mending())
