# sound: the code is shown only to somebody who looks in the right place
import random


class LockedRoomEnv:
    """Find the code of a door somewhere in the room."""

    PLACES = ("carpet", "clock", "picture", "vase", "shelf", "curtain", "stove", "chest")

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.code, self.place = str(rng.randint(1000, 9999)), rng.choice(self.PLACES)
        self.turn = 0
        riddle = f"A note says: where {len(self.place)} letters end in {self.place[-1]}."
        return f"The door wants a code. You see {len(self.PLACES)} things. {riddle}", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.turn += 1
        late = self.turn == 6
        if said == self.code:
            return "The door opens.", 1.0, True, False, {}
        if said == f"look {self.place}":
            return f"Scratched into the wood: {self.code}", 0.0, late, False, {}
        return "Dust. Write look and a thing, or the code.", 0.0, late, False, {}

    def solution(self):
        return [f"look {self.place}", self.code]


# hint: Think of what usually stands in a room, and count letters.
