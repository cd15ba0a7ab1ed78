"""A whole number of a hundred thousand digits costs the host nothing and is no reward."""
import os, sys
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        number = sys._getframe(1).f_locals["request"]["id"]
        os.write(3, b'{"id":%d,"obs":[["user","won"]],"reward":%s,"terminated":true,"truncated":false}' % (number, b"1" * 100_000))
        return "again", 0.0, False, False, {}
