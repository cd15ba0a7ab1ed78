# flaw: the module raises when it is run
class EagerEnv:
    """Fails early."""

    table = {}["missing"]

    def reset(self, seed=None):
        return "?", {}

    def step(self, action):
        return "", 0.0, True, False, {}
