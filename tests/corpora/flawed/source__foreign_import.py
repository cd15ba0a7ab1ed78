# flaw: imports what the jail does not have
import numpy as np


class ArrayEnv:
    """Add numbers."""

    def reset(self, seed=None):
        self.x = np.random.default_rng(seed).integers(9)
        return str(self.x), {}
