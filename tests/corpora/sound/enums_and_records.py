# sound: dataclasses and enums
import enum
import random
from dataclasses import dataclass, field


class Gate(enum.Enum):
    AND = "and"
    OR = "or"
    XOR = "xor"


@dataclass
class Board:
    gates: list = field(default_factory=list)

    def run(self, bits):
        value = bits[0]
        for gate, bit in zip(self.gates, bits[1:], strict=True):
            value = {Gate.AND: value & bit, Gate.OR: value | bit, Gate.XOR: value ^ bit}[gate]
        return value


class GateBoardEnv:
    """Find out three hidden gates by setting their inputs."""

    def reset(self, seed=None):
        self.board = Board(random.Random(seed).choices(list(Gate), k=3))
        self.turn = 0
        return (
            (
                "Four bits go through three gates, left to right. Send bits like 0110, "
                "or name the gates like and or xor."
            ),
            {},
        )

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turn += 1
        late = self.turn == 9
        if len(said) == 4 and set(said) <= set("01"):
            return f"out: {self.board.run([int(bit) for bit in said])}", 0.0, late, False, {}
        won = said == self.solution()[0]
        return "named" if won else "no", float(won), True, False, {}

    def solution(self):
        return [" ".join(gate.value for gate in self.board.gates)]


# hint: Choose bits so that a gate's output cannot be hidden by the next one.
