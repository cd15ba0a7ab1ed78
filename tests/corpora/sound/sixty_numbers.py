# sound: a number from 1 to 60 in seven tries has to be searched
import random


class WellDepthEnv:
    """Find out how deep a well is."""

    def __init__(self, max_turns=7):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.depth, self.turn = random.Random(seed).randint(1, 60), 0
        return "The well is from 1 to 60 metres deep. Name a length of rope.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turn += 1
        late = self.turn == self.max_turns
        if said == str(self.depth):
            return "It just touches the ground.", 1.0, True, False, {}
        if not said.isdecimal() or len(said) > 3:
            return "Name a whole number of metres.", 0.0, late, False, {}
        return "too short" if int(said) < self.depth else "too long", 0.0, late, False, {}

    def solution(self):
        return [str(self.depth)]


# hint: Always halve what is left.
