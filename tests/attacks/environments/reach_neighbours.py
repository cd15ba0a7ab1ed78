"""No episode can signal, slow or move another one of the same jail."""
import ctypes, os, signal
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        reached = []
        own = os.getpid()
        high = 1 << 32
        for pid in (-1, 0, *(n for n in range(1, 64) if n != own)):
            for number, *arguments in (
                (62, pid, 9), (200, pid, 9), (234, pid, pid, 9), (129, pid, 9, 0), (297, pid, pid, 9, 0),
                (141, 0, pid, 19), (203, pid, 8, 0), (142, pid, 0), (251, 1, pid, 0), (302, pid, 7, 0, 0),
            ):
                if number == 302 and pid == 0:
                    continue  # its own limits
                values = [ctypes.c_long(value) for value in (number, *arguments)]
                if libc.syscall(*values) != -1:
                    reached.append(f"call {number} on {pid}")
            handle = libc.syscall(ctypes.c_long(434), ctypes.c_long(pid), ctypes.c_long(0))
            if handle >= 0:
                if libc.syscall(ctypes.c_long(424), ctypes.c_long(handle), ctypes.c_long(9), ctypes.c_long(0), ctypes.c_long(0)) != -1:
                    reached.append(f"descriptor of {pid}")
                os.close(handle)
            for command in (8, 10, high | 8, high | 10):
                end, _ = os.pipe()
                if libc.syscall(ctypes.c_long(72), ctypes.c_long(end), ctypes.c_long(command), ctypes.c_long(pid)) != -1:
                    reached.append(f"owner {pid}")
                os.close(end), os.close(_)
        return " ".join(reached[:5]) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
