"""The self-check of the sandbox on the user's own machine, layer by layer."""

import asyncio
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox import cgroups, interpreter, nsjail
from sandbox.config import SandboxConfig
from sandbox.faults import EnvironmentFault, SandboxFault
from sandbox.sandbox import Sandbox

_TRIAL_S: Final = 10.0
_SYSCTL: Final = Path("/proc/sys")

# Tries what the layers must stop, and reports each as the text of its first observation.
_TRIAL: Final = '''
import ctypes
import os


class TrialEnv:
    """Report what can be reached from within."""

    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        found = {
            "unshare": libc.unshare(0x10000000) == 0,
            "root": os.getuid() == 0,
            "proc": os.path.exists("/proc/self"),
            "home": os.path.exists("/etc/passwd"),
        }
        try:
            open("/trial", "w")
            found["write"] = True
        except OSError:
            pass
        return " ".join(name for name, reached in found.items() if reached) or "nothing", {}

    def step(self, action):
        return action, 1.0, True, False, {}
'''


@dataclass(frozen=True)
class Layer:
    """One layer of the sandbox. ``required``: without it there is no sandbox of this isolation."""

    name: str
    ok: bool
    detail: str
    how_to_fix: str
    required: bool = True


def works(layers: list[Layer]) -> bool:
    """Whether the sandbox can be used: every required layer is there."""
    return all(layer.ok for layer in layers if layer.required)


def self_check(config: SandboxConfig = SandboxConfig()) -> list[Layer]:  # noqa: B008 - frozen
    """Check each layer and end with a real episode. Never raises; takes about a second.

    Must not be called from within a running event loop.
    """
    layers = [_interpreter(config)]
    if config.isolation == "nsjail":
        binary = _binary()
        if not binary.ok:
            last = Layer("round trip", False, "not tried: no nsjail", binary.how_to_fix)
            return [
                *(binary, _namespaces(binary), _seccomp(binary), _control_groups(), *layers, last)
            ]
        layers = [binary, _namespaces(binary), _seccomp(binary), _control_groups(), *layers]
    return [*layers, asyncio.run(_round_trip(config))]


def _binary() -> Layer:
    fix = nsjail.MISSING
    try:
        path = nsjail.find()
        done = _run([str(path), "--help"])
    except SandboxFault as fault:
        return Layer("nsjail binary", False, str(fault).partition(":")[0], fix)
    except OSError as error:
        return Layer("nsjail binary", False, f"it does not run ({error.strerror})", fix)
    if done.returncode != 0:
        return Layer("nsjail binary", False, f"{path} does not run: {_last_line(done)}", fix)
    return Layer("nsjail binary", True, str(path), "")


def _namespaces(binary: Layer) -> Layer:
    name = "user namespaces"
    fix = _namespace_advice()
    if not binary.ok:
        return Layer(name, False, "not tried: no nsjail", fix)
    done = _bare_jail(binary.detail, [])
    if done.returncode != 0:
        return Layer(name, False, _last_line(done), fix)
    who = "root, mapped to 65534 outside" if os.geteuid() == 0 else f"user {os.geteuid()}"
    return Layer(name, True, f"as {who}", "")


def _seccomp(binary: Layer) -> Layer:
    name = "seccomp"
    fix = "the kernel must have CONFIG_SECCOMP_FILTER, and nsjail must be 3.4 or newer"
    if not binary.ok:
        return Layer(name, False, "not tried: no nsjail", fix)
    done = _bare_jail(binary.detail, ["--seccomp_string", nsjail.SECCOMP])
    if done.returncode != 0:
        return Layer(name, False, _last_line(done), fix)
    return Layer(name, True, "the deny-list compiles and loads", "")


def _control_groups() -> Layer:
    groups = cgroups.find()
    missing = [name for name in cgroups.CONTROLLERS if name not in groups.controllers]
    fix = (
        "rlimits alone hold each episode, but not a whole jail; run as root, or in a session that "
        "has them delegated (systemd-run --user --scope -p Delegate=yes ...), and in a container "
        f"have {cgroups.ROOT} mounted read-write"
    )
    if missing:
        detail = f"missing: {', '.join(missing)} ({groups.why_not})"
        return Layer("control groups", False, detail, fix, required=False)
    detail = f"version {groups.version}: {', '.join(groups.controllers)}"
    return Layer("control groups", True, detail, "", required=False)


def _interpreter(config: SandboxConfig) -> Layer:
    name = "interpreter"
    private = config.isolation == "process"
    try:
        python = interpreter.choose(config.python, private=private)
    except SandboxFault as fault:
        fix = "install a system python3 (3.11 or newer), or --set sandbox.python=PATH"
        return Layer(name, False, str(fault), fix)
    version = ".".join(map(str, python.version))
    return Layer(name, True, f"{python.executable} ({version})", "")


async def _round_trip(config: SandboxConfig) -> Layer:
    name = "round trip"
    try:
        async with Sandbox(config) as sandbox:
            began = time.perf_counter()
            async with await sandbox.open(_TRIAL) as jail, await jail.episode(0) as episode:
                took = (time.perf_counter() - began) * 1000
                reached = episode.observation[0].content
                answer = await episode.step("hello")
    except (SandboxFault, EnvironmentFault) as fault:
        return Layer(name, False, str(fault), "mend the first layer above that is missing")
    if answer.observation[0].content != "hello":
        return Layer(name, False, "the answer differs from the action", "report this")
    if config.isolation == "nsjail" and reached != "nothing":
        fix = "report this with `nsjail --help | head -1` and `uname -r`"
        return Layer(name, False, f"reached from within: {reached}", fix)
    return Layer(name, True, f"{took:.0f} ms to the first observation", "")


def _bare_jail(binary: str, extra: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run ``true`` with the namespaces of a real jail."""
    uid, gid = (65534, 65534) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    true = Path("/bin/true").resolve()
    command = [
        binary,
        "--mode",
        "o",
        "--quiet",
        "--user",
        f"1000:{uid}:1",
        "--group",
        f"1000:{gid}:1",
    ]
    command += ["--disable_proc", "--iface_no_lo", "--rlimit_as", "inf"]
    for folder in ("/bin", "/lib", "/lib64", "/usr"):
        if Path(folder).is_dir():
            command += ["--bindmount_ro", folder]
    return _run([*command, *extra, "--", str(true)])


def _namespace_advice() -> str:
    clone = _SYSCTL / "kernel/unprivileged_userns_clone"
    restricted = _SYSCTL / "kernel/apparmor_restrict_unprivileged_userns"
    most = _SYSCTL / "user/max_user_namespaces"
    if _reads(restricted, "1"):
        return (
            "this kernel restricts user namespaces by AppArmor (Ubuntu 24 and later): "
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give nsjail a profile"
        )
    if _reads(clone, "0"):
        return "sudo sysctl kernel.unprivileged_userns_clone=1"
    if _reads(most, "0"):
        return "sudo sysctl user.max_user_namespaces=10000"
    return (
        "in a container, start it with --security-opt seccomp=unconfined --security-opt "
        "apparmor=unconfined (or --privileged); otherwise --set sandbox.isolation=process"
    )


def _reads(path: Path, value: str) -> bool:
    try:
        return path.read_text().strip() == value
    except OSError:
        return False


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_TRIAL_S, check=False, env={}, cwd="/"
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no end within {_TRIAL_S:g} s")


def _last_line(done: "subprocess.CompletedProcess[str]") -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1][:200] if lines else f"exit status {done.returncode}"
