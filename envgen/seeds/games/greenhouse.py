"""Causal inference: a diary full of coincidences, and a greenhouse in which to test them."""

import random

SWITCHES = ("lamp", "fan", "heater", "mist", "music", "shade")


class GreenhouseEnv:
    """Find out which two switches make the orchid bloom."""

    def __init__(self, max_turns: int = 8, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Choose the two causes, and a decoy that the diary always shows beside the first one."""
        rng = random.Random(seed)
        first, second, decoy = rng.sample(SWITCHES, 3)
        self.causes = {first: rng.choice(["on", "off"]), second: rng.choice(["on", "off"])}
        self.turns_left = self.max_turns
        diary = []
        for wanted in (True, False, True, False, True):
            day: dict[str, str] = {}
            while not day or self.blooms(day) != wanted:
                day = {switch: rng.choice(["on", "off"]) for switch in SWITCHES}
                day[decoy] = day[first]
            diary.append(self.describe(day))
        rules = (
            "The orchid blooms exactly when two of the six switches stand right, each on or off.\n"
            f"Switches: {' '.join(SWITCHES)}. The old gardener's diary:\n"
            + "\n".join(diary)
            + "\nTo set up a day of your own name the switches that are on, say, try lamp fan "
            "(or just try: all off).\nTo answer name both causes, say, claim lamp=on fan=off. "
            "One claim only."
        )
        return f"{rules}\nTurns left, the claim included: {self.turns_left}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Run one experiment, or take the claim."""
        words = action.removeprefix("\\boxed{").removesuffix("}").lower().split()
        self.turns_left -= 1
        if words[:1] == ["claim"]:
            won = sorted(words[1:]) == sorted(self.claim())
            verdict = "The orchid agrees." if won else "The orchid does not agree."
            return verdict, float(won), True, False, {}
        if self.turns_left == 0:
            return "The season is over.", 0.0, True, False, {}
        if words[:1] == ["try"] and set(words[1:]) <= set(SWITCHES):
            day = {switch: "on" if switch in words[1:] else "off" for switch in SWITCHES}
            note = self.describe(day)
        else:
            note = "Write try and switches, or claim and two settings."
        return f"{note}\nTurns left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the true claim; a player has to earn it with experiments."""
        return ["claim " + " ".join(self.claim())]

    def claim(self) -> list[str]:
        """Return the two causes as a claim writes them."""
        return [f"{name}={side}" for name, side in self.causes.items()]

    def blooms(self, day: dict[str, str]) -> bool:
        """Say whether the orchid blooms on such a day."""
        return all(day[name] == side for name, side in self.causes.items())

    def describe(self, day: dict[str, str]) -> str:
        """Write one line of the diary."""
        lit = " ".join(switch for switch in SWITCHES if day[switch] == "on") or "nothing"
        return f"- on: {lit}; {'bloom' if self.blooms(day) else 'no bloom'}"
