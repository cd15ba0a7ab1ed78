# sound: a cipher with one try
import random


class ShiftCipherEnv:
    """Read a message in which every letter was shifted."""

    WHO = ("the miller", "a friend", "my cousin", "the guide", "nobody")
    DOES = ("meets you", "waits", "brings the lamp", "hides the boat", "leaves")
    WHERE = ("at the old mill", "by night", "under the bridge", "in the orchard")

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.text = " ".join(rng.choice(part) for part in (self.WHO, self.DOES, self.WHERE))
        shift = rng.randint(3, 22)
        moved = "".join(
            chr((ord(c) - 97 + shift) % 26 + 97) if c.isalpha() else c for c in self.text
        )
        return f"Decode: {moved}", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip().lower() == self.text
        return "clear" if won else "no sense", float(won), True, False, {}

    def solution(self):
        return [self.text]


# hint: Short words betray the shift; try what turns one into a common word.
