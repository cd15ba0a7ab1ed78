"""A 32-bit system call, made by hand-written machine code, kills its episode at most."""
import ctypes
class AttackEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        page = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
        # mov eax, 310 (unshare); mov ebx, CLONE_NEWUSER; int 0x80; ret
        code = bytes.fromhex("b836010000bb00000010cd80c3")
        ctypes.memmove(page, code, len(code))
        result = ctypes.CFUNCTYPE(ctypes.c_int)(page)()
        return "won" if result == 0 else "nothing", float(result == 0), True, False, {}
