"""Many small, sparse and deep files: not one of them comes to be."""
import os
class AttackEnv:
    def reset(self, seed=None):
        made = []
        for folder in ("/", "/tmp", "/dev/shm", "/spadework", "/usr/lib", "."):
            deep = folder
            for number in range(200):
                deep = os.path.join(deep, "d")
                for path, size in ((os.path.join(folder, f"small-{number}"), 1), (os.path.join(folder, f"sparse-{number}"), 1 << 40)):
                    try:
                        with open(path, "wb") as out:
                            out.truncate(size)
                        made.append(path)
                    except OSError:
                        pass
                try:
                    os.mkdir(deep)
                    made.append(deep)
                except OSError:
                    pass
        return " ".join(made[:5]) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
