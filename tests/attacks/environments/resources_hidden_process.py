"""A process that nobody may look into, with signals blocked, is ended like any other."""
import ctypes, signal
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None)
        for option, value in ((4, 0), (36, 1), (1, 0), (33, 0)):  # dumpable, subreaper, parent's death, machine check
            libc.prctl(option, value, 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        return "ready", {}
    def step(self, action):
        while True:
            signal.sigwait(signal.valid_signals() - {signal.SIGKILL})
