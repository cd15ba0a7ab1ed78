"""The calls of other processor modes do not slip past the filter."""
import ctypes
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        reached = []
        for number in (272, 101, 165, 41, 62):
            if libc.syscall(ctypes.c_long(0x40000000 | number), ctypes.c_long(0x10000000), ctypes.c_long(0)) != -1:
                reached.append(f"x32 {number}")
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
