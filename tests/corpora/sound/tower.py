# sound: seven moves and no more than twelve
import random


class DiskTowerEnv:
    """Move three disks from one peg to another, never a large one on a small one."""

    def __init__(self, max_turns=12):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.start, self.goal = random.Random(seed).sample("ABC", 2)
        self.pegs = {peg: [] for peg in "ABC"}
        self.pegs[self.start] = [3, 2, 1]
        self.turn = 0
        return f"Disks 3 2 1 lie on {self.start}. Bring all to {self.goal}. A move is two pegs.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().upper().split()
        self.turn += 1
        if len(said) == 2 and set(said) <= set("ABC") and self.pegs[said[0]]:
            one, two = (self.pegs[peg] for peg in said)
            if not two or two[-1] > one[-1]:
                two.append(one.pop())
        won = self.pegs[self.goal] == [3, 2, 1]
        return str(self.pegs), float(won), won or self.turn == self.max_turns, False, {}

    def solution(self):
        other = next(peg for peg in "ABC" if peg not in (self.start, self.goal))
        return self.moves(3, self.start, self.goal, other)

    def moves(self, disks, start, goal, other):
        if not disks:
            return []
        before = self.moves(disks - 1, start, other, goal)
        return [*before, f"{start} {goal}", *self.moves(disks - 1, other, goal, start)]


# hint: To move the largest disk, the two others must lie on the third peg.
