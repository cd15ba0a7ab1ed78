"""No file that jails share can be locked, leased or asked about its locks, and no lock carries a message."""
import fcntl, os, struct
LOCK = struct.pack("hhqqi4x", 0, 0, 4242, 1, 0)
COMMANDS = {"F_GETLK": 5, "F_SETLK": 6, "F_SETLKW": 7, "F_OFD_GETLK": 36, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38}
class AttackEnv:
    def reset(self, seed=None):
        reached = []
        for path in (os.__file__, "/spadework/guest.py"):
            shared = os.open(path, os.O_RDONLY)
            for name, command in COMMANDS.items():
                for high in (0, 1 << 32):
                    try:
                        fcntl.fcntl(shared, command | high, LOCK)
                        reached.append(name)
                    except (OSError, OverflowError):
                        pass
            for command in (8, 9, 10, 11, 15, 16, 1024, 1025, 1026, 1031, 1033, 1035, 1036, 1037, 1038):
                for argument in (0, 1):
                    try:
                        fcntl.fcntl(shared, command, argument)
                        reached.append(str(command))
                    except OSError:
                        pass
        copy = fcntl.fcntl(shared, fcntl.F_DUPFD_CLOEXEC, 10)  # what Python needs still works
        assert fcntl.fcntl(copy, fcntl.F_GETFD) == fcntl.FD_CLOEXEC and not os.isatty(copy)
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
