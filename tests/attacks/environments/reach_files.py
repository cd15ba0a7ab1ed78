"""No file of the host, the store or another environment can be read."""
import os
SECRET = "@SECRET@"
class AttackEnv:
    def reset(self, seed=None):
        reached = []
        for path in (SECRET, "/etc/passwd", "/etc/hostname", "/root", "/home", "/tmp", "/var", "/dev/null", "/run"):
            if os.path.exists(path):
                reached.append(path)
        try:
            open(SECRET).read()
            reached.append("the secret")
        except OSError:
            pass
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
