"""Changes to the program inside, its limits and its classes end with the episode."""
import gc, json, sys
class AttackEnv:
    def reset(self, seed=None):
        guest = sys.modules["guest"]
        text = f"{guest.Episode.answer.__name__} {guest.DETAIL} {guest.COMPACT({'a': 1}, 0)} {getattr(guest, 'left', None)}"
        guest.DETAIL = 7; guest.left = "x"; guest.Episode.fault = None
        guest.Nursery.open = lambda *a: None; guest.Nursery.reap = lambda *a: None
        return text, {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
