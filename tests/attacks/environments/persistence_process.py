"""Working folder, umask, environment, signals and alarms of one episode are not met by another."""
import os, signal, sys
class AttackEnv:
    def reset(self, seed=None):
        before = os.umask(0o123)
        text = f"{os.getcwd()} {before:o} {os.environ.get('LEFT')} {signal.getsignal(signal.SIGALRM)} {signal.getitimer(signal.ITIMER_REAL)[0]} {sys.getrecursionlimit()} {sys.flags.hash_randomization}"
        os.chdir("/usr"); os.environ["LEFT"] = "x"
        signal.signal(signal.SIGALRM, signal.SIG_IGN); signal.setitimer(signal.ITIMER_REAL, 50)
        sys.setrecursionlimit(500)
        return text, {}
    def step(self, action):
        return f"{os.getcwd()}", 0.0, True, False, {}
