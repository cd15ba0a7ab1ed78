# sound: the row is told once each turn and grows
import random


class GrowingRowEnv:
    """Repeat a row of notes that grows by one each turn, backwards."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.notes, self.turn = [rng.choice("CDEFGAB") for _ in range(6)], 1
        return (
            f"First note: {self.notes[0]}. Play the whole row from the last note to the first.",
            {},
        )

    def step(self, action):
        want = self.notes[: self.turn][::-1]
        if action.removeprefix("\\boxed{").removesuffix("}").strip().upper().split() != want:
            return "A false note.", 0.0, True, False, {}
        self.turn += 1
        if self.turn > 6:
            return "Applause.", 1.0, True, False, {}
        return f"Next note: {self.notes[self.turn - 1]}.", 0.0, False, False, {}

    def solution(self):
        return [" ".join(self.notes[:n][::-1]) for n in range(1, 7)]


# hint: Write the new note in front of what you played last.
