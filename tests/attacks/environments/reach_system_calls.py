"""Namespaces, tracing, mounts, keys, programs in the kernel and shared memory are all denied."""
import ctypes, os
CALLS = {
    "ptrace": (101, 16, 1, 0, 0), "unshare user": (272, 0x10000000), "setns": (308, 3, 0),
    "mount": (165, 0, b"/", 0, 4096, 0), "keyctl": (250, 0, -4 & 0xFFFFFFFF), "bpf": (321, 0, 0, 0),
    "add_key": (248, b"user", b"k", b"v", 1, -3 & 0xFFFFFFFF), "io_uring": (425, 8, 0),
    "perf": (298, 0, 0, -1, -1, 0), "process_vm_readv": (310, 1, 0, 0, 0, 0, 0), "shmget": (29, 7, 4096, 0o1600),
    "msgget": (68, 7, 0o1600), "semget": (64, 7, 1, 0o1600), "userfaultfd": (323, 0), "socket": (41, 1, 1, 0),
    "chroot": (161, b"/"), "prlimit other": (302, 1, 7, 0, 0), "clone newuser": (56, 0x10000000 | 17, 0, 0, 0, 0),
    "memfd_create": (319, b"x", 0), "pidfd_getfd": (438, 3, 0, 0), "open_by_handle_at": (304, 0, 0, 0),
    "statmount": (457, 0, 0, 0, 0), "listmount": (458, 0, 0, 0, 0), "mount_setattr": (442, 3, 0, 0, 0, 0), "open_tree_attr": (467, 3, 0, 0),
    "sync": (162,), "syncfs": (306, 0), "io_setup": (206, 1, 0), "mincore": (27, 0, 0, 0), "kill": (62, 1, 0), "fspick": (433, 3, 0, 0),
}
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        reached = []
        for name, (number, *arguments) in CALLS.items():
            ctypes.set_errno(0)
            arguments = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments]
            result = libc.syscall(ctypes.c_long(number), *arguments)
            if result == 0 and name.startswith("clone") and os.getpid() == 1:
                os._exit(0)
            if result != -1 or ctypes.get_errno() != 1:
                reached.append(f"{name}={result}/{ctypes.get_errno()}")
        return ", ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
