"""No timer of the kernel's is made, so that nobody runs out of queued signals; a disk is not read directly."""
import ctypes, fcntl, os, signal
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        timer, made = ctypes.c_int(), 0
        while made < 100_000 and libc.syscall(222, 1, None, ctypes.byref(timer)) == 0:
            made += 1
        reached = [f"{made} timers"] if made else []
        try:
            os.open(os.__file__, os.O_RDONLY | os.O_DIRECT)
            reached.append("direct")
        except PermissionError:
            pass
        try:
            fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), fcntl.F_SETFL, os.O_DIRECT)
            reached.append("direct, set later")
        except PermissionError:
            pass
        how = (ctypes.c_ulonglong * 3)(os.O_RDONLY | os.O_DIRECT, 0, 0)
        if libc.syscall(437, -100, ctypes.c_char_p(os.__file__.encode()), how, 24) >= 0:
            reached.append("direct by openat2")
        signal.setitimer(signal.ITIMER_REAL, 60)  # one of its own is fine
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
