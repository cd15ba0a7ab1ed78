"""Process ids and what the program inside remembers count no episodes."""
import gc, os, sys, threading
class AttackEnv:
    def reset(self, seed=None):
        frame, counts = sys._getframe(), []
        while frame is not None:
            for value in frame.f_locals.values():
                children = getattr(value, "children", None)
                if isinstance(children, dict):
                    numbers = [child.number for child in children.values() if child.number is not None]
                    counts += [number for number in numbers if number < 1 << 20]
            frame = frame.f_back
        return f"{os.getpid()} {os.getppid()} {threading.get_native_id()} {counts} {len(gc.get_objects()) < 0}", {}
    def step(self, action):
        return f"{os.getpid()}", 0.0, True, False, {}
