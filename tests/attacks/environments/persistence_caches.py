"""Compiled code, import caches and hooks of one episode are not met by another."""
import re, sys, linecache
class AttackEnv:
    def reset(self, seed=None):
        text = f"{len(sys.meta_path)} {len(sys.path)} {'ghost' in sys.modules} {len(re._cache)} {'ghost' in linecache.cache} {sys.gettrace()} {sys.getprofile()} {sys.excepthook is sys.__excepthook__}"
        sys.meta_path.append(self); sys.path.append("/ghost"); sys.modules["ghost"] = self
        re.compile("ghost" * 3); linecache.cache["ghost"] = (0, None, [], "x")
        sys.setprofile(lambda *a: None); sys.excepthook = print
        return text, {}
    def find_spec(self, *a):
        return None
    def step(self, action):
        return "nothing", 0.0, True, False, {}
