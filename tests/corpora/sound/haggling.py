# sound: the price falls by a rule, buying too early loses
import random
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Seller:
    floor: int
    opening: int
    patience: int
    temper: str


class BazaarEnv:
    """Haggle over a carpet with a seller of unknown patience.

    The seller lowers the price whenever you make a serious offer, and leaves after an insult.
    """

    def __init__(self, max_turns=10, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        floor = rng.randint(60, 200)
        self.seller = Seller(floor, floor + rng.randint(80, 160), 8, rng.choice(["calm", "proud"]))
        self.price = self.seller.opening
        self.step_size = 10 if self.seller.temper == "calm" else 20
        self.turn = 0
        self.history = []
        return (
            f"A {self.seller.temper} seller asks {self.price} coins. A calm seller comes down by 10 coins for each "
            "'wait', a proud one by 20. The seller never goes below a hidden floor, and once there says 'my last word'. "
            "Then, and only then, 'buy' wins. Buying earlier overpays. Reply 'wait' or 'buy <price>'."
        ), {"opening": self.price}

    def _clean(self, action):
        m = re.search(r"\\boxed\{(.*)\}", action, re.S)
        return (m.group(1) if m else action).strip().lower()

    def step(self, action):
        self.turn += 1
        text = self._clean(action)
        late = self.turn >= self.max_turns + 8
        if text == "wait":
            self.price = max(self.seller.floor, self.price - self.step_size)
            word = "my last word" if self.price == self.seller.floor else "for you"
            return f"{self.price} coins, {word}.", -0.01, False, late, {}
        m = re.fullmatch(r"buy ([0-9]{1,5})", text)
        if m:
            good = int(m.group(1)) == self.seller.floor == self.price
            return (
                ("Sold." if good else "You overpaid or insulted the seller."),
                1.0 if good else -0.5,
                True,
                False,
                {},
            )
        return "The seller does not understand.", -0.05, False, late, {}

    def solution(self):
        n = -(-(self.seller.opening - self.seller.floor) // self.step_size)
        return ["wait"] * n + [f"buy {self.seller.floor}"]
