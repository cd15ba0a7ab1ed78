"""The program that opens and ends episodes cannot be signalled, stopped or changed."""
import os, signal
class AttackEnv:
    def reset(self, seed=None):
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGPIPE):
            try:
                os.kill(1, number)
            except OSError:
                pass
        return "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
