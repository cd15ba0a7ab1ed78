# sound: negative rewards on the way, the last one counts
import random


class TollRoadEnv:
    """Cross five toll gates whose price follows from the sign."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.signs = [(rng.randint(3, 9), rng.randint(11, 40)) for _ in range(5)]
        self.gate, self.turn = 0, 0
        return self.sign(), {}

    def sign(self):
        wheels, weight = self.signs[self.gate]
        return f"Gate {self.gate + 1}: {wheels} coins a tonne, you weigh {weight} tonnes. Pay what?"

    def step(self, action):
        self.turn += 1
        wheels, weight = self.signs[self.gate]
        if action.removeprefix("\\boxed{").removesuffix("}").strip() != str(wheels * weight):
            return "A fine of one coin. " + self.sign(), -1.0, self.turn == 8, False, {}
        self.gate += 1
        if self.gate == 5:
            return "Free road.", 1.0, True, False, {}
        return self.sign(), 0.0, False, False, {}

    def solution(self):
        return [str(wheels * weight) for wheels, weight in self.signs]


# hint: Multiply tens and units apart.
