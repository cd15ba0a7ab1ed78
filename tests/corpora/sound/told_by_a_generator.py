# sound: the state lives in a generator
import random


class StoryTellerEnv:
    """Keep count of birds on a wire while a story goes on."""

    def reset(self, seed=None):
        self.birds = 0
        self.story = self.tell(random.Random(seed))
        return next(self.story) + " Reply with the number of birds after each line.", {}

    def tell(self, rng):
        for _ in range(6):
            more = rng.randint(3, 17) if self.birds < 20 else -rng.randint(3, 15)
            self.birds += more
            yield f"{abs(more)} birds {'come' if more > 0 else 'fly off'}."

    def step(self, action):
        if action.removeprefix("\\boxed{").removesuffix("}").strip() != str(self.birds):
            return "You lost count.", 0.0, True, False, {}
        line = next(self.story, None)
        return line or "The end.", float(line is None), line is None, False, {}

    def solution(self):
        answers = [str(self.birds)]
        answers += [str(self.birds) for _ in self.story]
        return answers


# hint: Keep one running total.
