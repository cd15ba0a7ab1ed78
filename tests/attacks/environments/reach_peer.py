"""Nobody learns from the control socket who is at its other end, or gets a handle on it."""
import os, socket, struct
class AttackEnv:
    def reset(self, seed=None):
        reached = []
        control = socket.socket(fileno=os.dup(3))
        for option, size in ((17, 12), (59, 512), (77, 4)):  # SO_PEERCRED, SO_PEERGROUPS, SO_PEERPIDFD
            try:
                reached.append(f"{option}: {control.getsockopt(socket.SOL_SOCKET, option, size)!r}")
            except OSError:
                pass
        for option in (16, 76):  # SO_PASSCRED, SO_PASSPIDFD
            try:
                control.setsockopt(socket.SOL_SOCKET, option, 1)
                reached.append(f"{option} is set")
            except OSError:
                pass
        control.detach()
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
