# sound: sets of strings are built, but only sorted or asked for membership
import random


class MissingGuestEnv:
    """Find out who did not come to the party."""

    NAMES = frozenset(
        {"Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jo", "Kim", "Lou", "Max"}
        | {"Nia", "Otto", "Pia", "Quin", "Rob", "Sue", "Tom", "Uma", "Vic", "Wim", "Xena", "Yan"}
        | {"Zoe", "Abe", "Bea", "Cy", "Dee"}
    )

    def reset(self, seed=None):
        rng = random.Random(seed)
        names = sorted(self.NAMES)
        rng.shuffle(names)
        self.missing = names.pop()
        here = names[:]
        rng.shuffle(here)
        told = " and ".join(here[:5]) + " came early; " + " and ".join(here[5:]) + " came late."
        return "Invited: " + " ".join(sorted(self.NAMES)) + f". {told} Who stayed away?", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        known = "" if said in self.NAMES else " Nobody has that name."
        return "Answer taken." + known, float(said == self.missing), True, False, {}

    def solution(self):
        return [self.missing]


# hint: Tick off each guest on the list of invitations.
