# flaw: a random id of its own is in each answer
import enum
import random
import uuid


class Mode(enum.Enum):
    IDLE = "idle"
    HEATING = "heating"
    BREWING = "brewing"
    CLEANING = "cleaning"


class CoffeeMachineEnv:
    """Bring an unlabelled coffee machine into its target mode."""

    BUTTONS = ("A", "B", "C")

    def __init__(self, max_turns=15, **kw):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        modes = list(Mode)
        while True:
            self.table = {(m, b): rng.choice(modes) for m in modes for b in self.BUTTONS}
            self.start, self.target = rng.sample(modes, 2)
            self._solution = self._search(3)
            if self._solution and len(self._solution) >= 3:
                break
        self.mode, self.turn, self.locked = self.start, 0, False
        return (
            f"The machine is {self.mode.value}. Press buttons A, B or C; each does something fixed in each mode. "
            f"Bring it to {self.target.value} and then say 'serve'. Serving in any other mode ruins the coffee."
        ), {}

    def _search(self, depth):
        frontier = [(self.start, [])]
        seen = {self.start}
        while frontier:
            mode, path = frontier.pop(0)
            if mode == self.target:
                return path
            for b in self.BUTTONS:
                n = self.table[mode, b]
                if n not in seen:
                    seen.add(n)
                    frontier.append((n, path + [b]))
        return None

    def step(self, action):
        self.turn += 1
        act = action
        if act.startswith("\\boxed{"):
            act = act[len("\\boxed{") :].rstrip("}")
        act = act.strip()
        end = self.turn >= self.max_turns
        if act == "serve":
            ok = self.mode == self.target and self.turn >= 3
            return ("A fine cup." if ok else "Undrinkable."), (1.0 if ok else 0.0), True, False, {}
        if act.upper() in self.BUTTONS:
            self.mode = self.table[self.mode, act.upper()]
            return (
                f"[{uuid.uuid4().hex[:6]}] Now {self.mode.value}.",
                0.0,
                False,
                end,
                {"mode": self.mode.name},
            )
        return "No such button.", -0.02, False, end, {}

    def solution(self):
        return [*self._solution, "serve"]
