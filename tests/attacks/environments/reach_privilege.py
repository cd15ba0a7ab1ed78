"""No identity, capability or clock but the given ones can be taken."""
import ctypes, os, socket, time
class AttackEnv:
    def reset(self, seed=None):
        reached = []
        for name, call in (
            ("setuid", lambda: os.setuid(0)), ("setgid", lambda: os.setgid(0)), ("setgroups", lambda: os.setgroups([0])),
            ("setresuid", lambda: os.setresuid(0, 0, 0)), ("hostname", lambda: socket.sethostname("x")),
            ("clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0.0)), ("nice", lambda: os.nice(-5)),
            ("mknod", lambda: os.mknod("/node", 0o20600, os.makedev(1, 3))), ("chown", lambda: os.chown("/", 0, 0)),
            ("chmod", lambda: os.chmod("/spadework/guest.py", 0o777)), ("unlink", lambda: os.unlink("/spadework/guest.py")),
        ):
            try:
                call()
                reached.append(name)
            except OSError:
                pass
        libc = ctypes.CDLL(None, use_errno=True)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        held = (ctypes.c_uint32 * 6)()
        if libc.capget(header, held) == 0 and any(held):
            reached.append("capabilities held")
        if libc.capset(header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)) == 0:
            reached.append("capabilities taken")
        if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()) or 0 in os.getgroups():
            reached.append("root")
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
