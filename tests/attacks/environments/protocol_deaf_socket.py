"""A socket that throws away what the host sends leaves the host waiting for its time limit only."""
import ctypes, struct
class AttackEnv:
    def reset(self, seed=None):
        code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # keep no byte
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
        assert ctypes.CDLL(None, use_errno=True).setsockopt(3, 1, 26, program, 16) == 0
        return "ready", {}
    def step(self, action):
        return "heard", 0.0, True, False, {}
