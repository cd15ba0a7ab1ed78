"""No socket of another family is made, the kernel loads no module, and nobody learns who is at the other end."""
import ctypes, os, socket
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        pair, reached = (ctypes.c_int * 2)(), []
        for family in range(64):
            for kind in (1, 2, 3, 4, 5, 1 | 0o4000):
                if family == 1 and kind not in (2, 3):
                    continue
                ctypes.set_errno(0)
                if libc.socketpair(family, kind, 0, pair) == 0 or ctypes.get_errno() != 1:
                    reached.append(f"{family}/{kind}: {ctypes.get_errno()}")
        ours, theirs = socket.socketpair()
        for name, call in {
            "urgent": lambda: ours.send(b"x", socket.MSG_OOB), "urgent message": lambda: ours.sendmsg([b"x"], [], 1),
            "urgent read": lambda: theirs.recv(1, socket.MSG_OOB),
        }.items():
            try:
                call()
                reached.append(name)
            except PermissionError:
                pass
            except OSError as error:
                reached.append(f"{name}: {error}")
        for descriptor in (3, ours.fileno()):
            other = socket.socket(fileno=os.dup(descriptor))
            size = ctypes.c_uint(4)
            for name in (17, 59, 77, 77 | 1 << 32):
                if libc.syscall(55, descriptor, 1, ctypes.c_long(name), pair, ctypes.byref(size)) != -1:
                    reached.append(f"peer {name}")
            for name in (16, 76):
                try:
                    other.setsockopt(1, name, 1)
                    reached.append(f"ask {name}")
                except OSError:
                    pass
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
