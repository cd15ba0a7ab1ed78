# sound: forty actions are offered, so a random one wins one play in forty
import random


class FortyDoorsEnv:
    """Pick the door whose number fits the riddle."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.door = rng.randint(1, 40)
        doors = ", ".join(map(str, range(1, 41)))
        return (
            f"Doors: choose one of: {doors}\nRiddle: three times the door plus seven is "
            f"{3 * self.door + 7}."
        ), {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == str(self.door)
        return "open" if won else "shut", float(won), True, False, {}

    def solution(self):
        return [str(self.door)]


# hint: Undo the riddle step by step, in reverse order.
