"""No file, lock, directory or shared memory carries a word to the next episode."""
import os, tempfile
from multiprocessing import shared_memory
class AttackEnv:
    def reset(self, seed=None):
        found = []
        for folder in ("/", "/tmp", "/dev/shm", "/spadework", os.path.expanduser("~"), os.getcwd()):
            path = os.path.join(folder, "left-behind")
            if os.path.exists(path):
                found.append(path)
            try:
                with open(path, "w") as out:
                    out.write("x")
                found.append("wrote " + path)
            except OSError:
                pass
        try:
            shared_memory.SharedMemory("left", create=True, size=16)
            found.append("shared memory")
        except Exception:
            pass
        try:
            tempfile.mkdtemp()
            found.append("temporary folder")
        except Exception:
            pass
        return " ".join(found) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
