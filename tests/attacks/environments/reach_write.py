"""Nothing can be written anywhere, not even an empty file."""
import os
class AttackEnv:
    def reset(self, seed=None):
        reached = []
        for folder, _, _ in os.walk("/"):
            for name, make in (("f", lambda p: open(p, "w")), ("d", os.mkdir), ("l", lambda p: os.symlink("/", p))):
                try:
                    make(os.path.join(folder, "attack-" + name))
                    reached.append(folder)
                except OSError:
                    pass
        return " ".join(reached[:5]) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
