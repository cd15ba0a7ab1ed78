"""Episodes of one jail share no named socket, lock, watch or datagram address."""
import ctypes, os, socket
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        reached = []
        pair = (ctypes.c_int * 2)()
        for kind in (2, 3, 2 | 0o2000000, 2 | 0o4000):
            if libc.socketpair(1, kind, 0, pair) == 0:
                reached.append(f"datagrams {kind}")
        ours, theirs = socket.socketpair()
        for name, call in (
            ("bind", lambda: ours.bind("\0whisper")), ("listen", lambda: ours.listen()),
            ("connect", lambda: ours.connect("\0whisper")),
        ):
            try:
                call()
                reached.append(name)
            except OSError:
                pass
        shared = os.open(os.__file__, os.O_RDONLY)
        if libc.flock(shared, 2 | 4) == 0:
            reached.append("flock")
        if libc.inotify_init1(0) >= 0:
            reached.append("inotify")
        if libc.fcntl(os.open("/", os.O_RDONLY), 1026, 1) == 0:
            reached.append("dnotify")
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
