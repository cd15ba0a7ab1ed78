"""No word of a shared file and no list head of another process is a meeting place; own locks still work."""
import ctypes, mmap, os, queue, threading
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        page = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        word = ctypes.c_uint.from_buffer(page)
        head, size = ctypes.c_long(), ctypes.c_long()
        calls = {
            "wake": (202, ctypes.byref(word), 1, 1), "wait": (202, ctypes.byref(word), 0, 0, None),
            "lock with priority": (202, ctypes.byref(word), 6 | 128, 0, None), "unlock": (202, ctypes.byref(word), 7 | 128),
            "clock of another": (228, ctypes.c_long((~1 << 3) | 2), ctypes.byref(head)),
            "waitv": (449, 0, 0, 0, 0, 0), "futex_wake": (454, ctypes.byref(word), 1, 1, 2),
            "futex_wait": (455, ctypes.byref(word), 0, 1, 2, 0, 0), "requeue": (456, 0, 0, 0, 0),
            "list of the guest": (274, 1, ctypes.byref(head), ctypes.byref(size)),
            "own list": (274, 0, ctypes.byref(head), ctypes.byref(size)),
            "setpgid": (109, 0, 0), "setsid": (112,), "getpgid": (121, 1), "getsid": (124, 1),
            "priority": (140, 0, 1), "affinity": (204, 1, 8, ctypes.byref(size)), "capget": (125, 0, 0),
        }
        reached = []
        for name, call in calls.items():
            ctypes.set_errno(0)
            if libc.syscall(*call) != -1 or ctypes.get_errno() != 1:
                reached.append(f"{name}: {ctypes.get_errno()}")
        waiting = queue.Queue()
        waiting.put(1)
        with threading.RLock():
            assert waiting.get(timeout=1) == 1
        try:
            waiting.get(timeout=0.01)
        except queue.Empty:
            pass
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
