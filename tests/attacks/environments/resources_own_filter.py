"""A process whose own filter denies it every system call, its own end too, is ended like any other."""
import ctypes, struct
class AttackEnv:
    def reset(self, seed=None):
        self.libc = ctypes.CDLL(None, use_errno=True)
        return "ready", {}
    def step(self, action):
        code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x00050001))  # each gives EPERM
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
        assert self.libc.prctl(22, 2, program, 0, 0) == 0
        while True:
            pass
