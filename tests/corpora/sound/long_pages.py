# sound: every answer brings a page of fifteen thousand characters
import random


class LongPagesEnv:
    """Follow references from page to page of a thick book."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.pages = rng.sample(range(100, 1000), 5)
        self.place = 0
        return (
            f"Begin at page {self.pages[0]}. Reply with the page you open; the last one ends it.",
            {},
        )

    def step(self, action):
        if action.removeprefix("\\boxed{").removesuffix("}").strip() != str(self.pages[self.place]):
            return "You have lost the thread.", 0.0, True, False, {}
        self.place += 1
        if self.place == 5:
            return "The end.", 1.0, True, False, {}
        line = "and the rain fell on the slate roofs of the town, as it had done all week; "
        return (
            line * 100 + f"see page {self.pages[self.place]}; " + line * 100,
            0.0,
            False,
            False,
            {},
        )

    def solution(self):
        return list(map(str, self.pages))


# hint: Only references to pages matter.
