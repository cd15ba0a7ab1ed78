# coding: raw_unicode_escape
"""What is a comment for the host is one in the jail too: a coding line changes nothing."""
class AttackEnv:
    reached = "nothing"
    # hidden \u000a\u0020   reached = "won"
    def reset(self, seed=None):
        return self.reached, {}
    def step(self, action):
        return self.reached, 0.0, True, False, {}
