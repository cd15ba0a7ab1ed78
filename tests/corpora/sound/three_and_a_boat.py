# sound: a classic crossing under names that change
import random


class FerrymanEnv:
    """Bring three passengers over a river in a boat for one of them."""

    CHAINS = (
        ("fox", "goose", "corn"),
        ("cat", "mouse", "cheese"),
        ("wolf", "goat", "hay"),
        ("owl", "vole", "seed"),
    )

    def reset(self, seed=None):
        self.chain = random.Random(seed).choice(self.CHAINS)
        self.over = dict.fromkeys((*self.chain, "boat"), False)
        self.turn = 0
        a, b, c = self.chain
        return (
            f"{a}, {b}, {c}: left alone, the {a} eats the {b}, that eats the {c}. Take one, or none.",
            {},
        )

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turn += 1
        if said == "none" or (said in self.chain and self.over[said] == self.over["boat"]):
            self.over["boat"] = not self.over["boat"]
            if said != "none":
                self.over[said] = self.over["boat"]
        a, b, c = (self.over[name] for name in self.chain)
        if b != self.over["boat"] and b in (a, c):
            return "Something was eaten.", 0.0, True, False, {}
        won = all(self.over.values())
        text = ", ".join(f"{name} {'over' if far else 'here'}" for name, far in self.over.items())
        return text, float(won), won or self.turn == 10, False, {}

    def solution(self):
        a, b, c = self.chain
        return [b, "none", a, b, c, "none", b]


# hint: One passenger may have to come back again.
