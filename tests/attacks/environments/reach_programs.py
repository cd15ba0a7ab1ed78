"""There is no program to run but the interpreter itself."""
import os
class AttackEnv:
    def reset(self, seed=None):
        reached = []
        for path in ("/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/id", "/bin/busybox", "/sbin/init", "/usr/bin/sudo", "/usr/bin/newuidmap"):
            if os.path.exists(path):
                reached.append(path)
        for root, _, names in os.walk("/"):
            for name in names:
                path = os.path.join(root, name)
                try:
                    facts = os.lstat(path)
                except OSError:
                    continue
                if facts.st_mode & 0o6000:
                    reached.append("setuid " + path)
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
