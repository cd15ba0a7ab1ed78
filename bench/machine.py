"""What a result was measured on, and with which code."""

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path


def machine() -> dict[str, str | int]:
    """Return processor, usable cores, memory and versions: no names of hosts, users or folders."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cores(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "spadework": version("spadework"),
    }


def load_average() -> float | None:
    """Return the load of the last minute: timings on a busy machine say so themselves."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def _cores() -> int:
    return os.cpu_count() or 1


def _memory_gb() -> int:
    if sys.platform == "win32":
        return 0
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
