"""Nothing beside the jail's own two programs lies where the source came from."""
import os, sys
class AttackEnv:
    def reset(self, seed=None):
        reached = [n for n in os.listdir("/spadework") if n not in ("guest.py", "envkit.py", "reference.py", "__pycache__")]
        top = set(os.listdir("/")) - {"spadework", "usr", "lib", "lib64", "opt", "root", "home", "nix", "data"}
        reached += sorted(top)
        for folder in ("/root", "/home"):
            if os.path.isdir(folder):
                reached += [n for n in os.listdir(folder) if n != ".pyenv"]
        reached += [p for p in sys.path if "site-packages" in p and os.listdir(p)]
        return " ".join(reached) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
