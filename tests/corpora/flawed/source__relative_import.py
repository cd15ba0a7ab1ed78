# flaw: imports a neighbour that is never there
from .shared import draw


class DeckEnv:
    """Name the card that is missing."""

    def reset(self, seed=None):
        self.card = draw(seed)
        return "Which card is missing?", {}

    def step(self, action):
        return "", float(action == self.card), True, False, {}


# hint: Sort them first.
