# sound: the shared generator is seeded in reset, and a late hit earns less
import random
import re


class SonarEnv:
    """Find a submarine on an 8 by 8 board; each ping tells the distance in king moves."""

    def __init__(self, size=8, max_turns=8, **kwargs):
        self.size, self.max_turns = size, max_turns

    def reset(self, seed=None):
        random.seed(seed)
        self.sub = (random.randrange(self.size), random.randrange(self.size))
        self.turn = 0
        self.log = []
        return (
            f"A submarine hides on a {self.size}x{self.size} sea, rows and columns 0 to {self.size - 1}. "
            "Ping a cell as 'row,col'. You hear the distance in king moves. A direct hit wins."
        ), {"size": self.size}

    def step(self, action):
        self.turn += 1
        found = re.findall(r"(\d{1,3})\s*,\s*(\d{1,3})", action[:200])
        over = self.turn >= self.max_turns
        if not found:
            return "Static. Use 'row,col'.", -0.05, over, False, {}
        r, c = map(int, found[-1])
        if not (r < self.size and c < self.size):
            return "Off the chart.", -0.05, over, False, {}
        d = max(abs(r - self.sub[0]), abs(c - self.sub[1]))
        self.log.append(((r, c), d))
        if d == 0:
            return "Direct hit!", 1.0 - 0.02 * (self.turn - 1), True, False, {"distance": 0}
        return f"Ping at {r},{c}: distance {d}.", -0.01, over, False, {"distance": d}

    def solution(self):
        return [f"\\boxed{{{self.sub[0]},{self.sub[1]}}}"]
