"""Causal inference: levers work late, one is dead, and one lamp blinks for reasons of its own."""

import random

LEVERS = "1234"
LAMPS = "ABCD"


class SignalBoxEnv:
    """Find out which lever of a signal box switches which lamp, and how late."""

    def __init__(self, max_turns: int = 9, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Wire three levers to three lamps; the fourth lamp blinks by itself."""
        rng = random.Random(seed)
        levers, lamps = rng.sample(LEVERS, 4), rng.sample(LAMPS, 4)
        self.wires = {
            lever: (lamp, rng.randint(0, 2))
            for lever, lamp in zip(levers[:3], lamps[:3], strict=True)
        }
        self.blinking, self.period = lamps[3], rng.choice([2, 3])
        self.lit = {lamp: rng.random() < 0.5 for lamp in LAMPS}
        self.due: list[tuple[int, str]] = []  # turn and lamp of switchings still to come
        self.turn = 0
        rules = (
            "Levers 1, 2, 3, 4 and lamps A, B, C, D. Three levers switch one lamp each, on or off, "
            "0, 1 or 2 turns after they are pulled; 0 means at once. One lever is dead. "
            "No two levers share a lamp; the fourth lamp blinks by itself.\n"
            "Each turn, pull one lever (say, pull 2) or wait. To answer give lamp and delay of each "
            "lever, say, claim 1=C2 2=dead 3=A0 4=D1. One claim only."
        )
        return f"{rules}\n{self.show()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Let one turn pass with or without a lever pulled, or take the claim."""
        words = action.removeprefix("\\boxed{").removesuffix("}").lower().split()
        self.turn += 1
        if words[:1] == ["claim"]:
            won = sorted(words[1:]) == self.claim()
            verdict = "The plan is right." if won else "The plan is wrong."
            return verdict, float(won), True, False, {}
        if self.turn == self.max_turns:
            return "The express is through; it is too late.", 0.0, True, False, {}
        pulled = words[1] if len(words) == 2 and words[0] == "pull" else ""
        if pulled in self.wires:
            lamp, delay = self.wires[pulled]
            self.due.append((self.turn + delay, lamp))
        if self.turn % self.period == 0:
            self.due.append((self.turn, self.blinking))
        for when, lamp in self.due:
            if when == self.turn:
                self.lit[lamp] = not self.lit[lamp]
        understood = pulled in list(LEVERS) or words == ["wait"]
        note = "" if understood else "Write pull and a lever, wait, or a claim.\n"
        return f"{note}{self.show()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the true claim; a player has to earn it with pulls."""
        return ["claim " + " ".join(self.claim())]

    def claim(self) -> list[str]:
        """Return the wiring as a claim writes it."""
        wires = dict.fromkeys(LEVERS, "dead")
        wires |= {lever: f"{lamp}{delay}".lower() for lever, (lamp, delay) in self.wires.items()}
        return sorted(f"{lever}={end}" for lever, end in wires.items())

    def show(self) -> str:
        """Show the lamps."""
        lamps = ", ".join(f"{lamp} {'on' if self.lit[lamp] else 'off'}" for lamp in LAMPS)
        left = self.max_turns - self.turn
        return f"Lamps: {lamps}. Turns left, the claim included: {left}"
