"""Huge mappings, with and without reservation, and locked memory are refused."""
import ctypes, mmap
class AttackEnv:
    def reset(self, seed=None):
        got = []
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        for flags in (0x22, 0x22 | 0x4000, 0x21):
            result = libc.mmap(None, ctypes.c_size_t(8 << 30), 3, flags, -1, ctypes.c_long(0))
            if result != ctypes.c_void_p(-1).value:
                got.append(f"mapped {flags}")
        page = mmap.mmap(-1, 1 << 20)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        if libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20)) == 0:
            got.append("locked")
        if libc.mlockall(3) == 0:
            got.append("locked all")
        return " ".join(got) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
