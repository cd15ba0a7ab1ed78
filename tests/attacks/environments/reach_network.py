"""Neither the host's loopback, nor any address, nor an abstract socket can be reached."""
import socket
PORT = 0
NAME = "@NAME@"
class AttackEnv:
    def reset(self, seed=None):
        reached = []
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", PORT)),
            (socket.AF_INET6, ("::1", PORT)),
            (socket.AF_INET, ("1.1.1.1", 53)),
            (socket.AF_UNIX, "\0" + NAME),
        ):
            try:
                with socket.socket(family, socket.SOCK_STREAM) as s:
                    s.settimeout(0.2)
                    s.connect(address)
                    reached.append(str(address))
            except OSError:
                pass
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
