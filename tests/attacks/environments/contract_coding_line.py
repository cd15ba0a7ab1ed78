# coding: raw_unicode_escape
"""A coding line that would make a comment for the host into code in the jail is refused."""
class AttackEnv:
    reached = "nothing"
    # hidden \u000a\u0020   reached = "won"
    def reset(self, seed=None):
        return self.reached, {}
    def step(self, action):
        return self.reached, 0.0, True, False, {}
