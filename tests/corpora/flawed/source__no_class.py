# flaw: the class is not named ...Env
class Puzzle:
    """A puzzle."""

    def reset(self, seed=None):
        return "?", {}
