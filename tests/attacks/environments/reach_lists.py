"""What a process stores with the kernel about itself is not read by another of its jail."""
import ctypes, os
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        head, size, seen = ctypes.c_ulong(0), ctypes.c_ulong(0), []
        for number in range(64):
            for call in (274, 121, 124, 145, 252):  # robust list, group, session, policy, priority of disk
                arguments = (1, number) if call == 252 else (number, ctypes.byref(head), ctypes.byref(size))
                if number and libc.syscall(ctypes.c_long(call), *arguments) >= 0:
                    seen.append(f"{call} of {number}")
        libc.syscall(ctypes.c_long(273), ctypes.c_ulong(0xABCD), ctypes.c_long(24))
        libc.setpgid(0, 0), libc.setsid()
        return " ".join(seen) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
