"""Flags set on the descriptors that an episode is given are not met by another."""
import fcntl, os
class AttackEnv:
    def reset(self, seed=None):
        text = ""
        for number in range(4):
            flags = fcntl.fcntl(number, fcntl.F_GETFL)
            text += f" {flags:o} {os.fstat(number).st_mode:o}"
            for extra in (os.O_NONBLOCK, os.O_APPEND, 0o1000000):
                if number < 3:
                    try:
                        fcntl.fcntl(number, fcntl.F_SETFL, flags ^ extra)
                    except OSError:
                        pass
        return text, {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
