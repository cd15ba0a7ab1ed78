"""The pages of shared files count no plays: none is cold, and none can be dropped or asked about."""
import ctypes, mmap, os, resource
LIBRARY = os.path.dirname(os.__file__)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
def plays():
    """The first page of a file that is cold; looking at it makes it warm."""
    warm = 0
    for name in ("turtle.py", "pydoc_data/topics.py", "lib2to3/pytree.py", "mailbox.py"):
        try:
            file = os.open(f"{LIBRARY}/{name}", os.O_RDONLY)
        except OSError:
            continue
        size = os.fstat(file).st_size
        shared = mmap.mmap(file, size, prot=mmap.PROT_READ)
        shared.madvise(mmap.MADV_RANDOM)
        for page in range(size // 4096):
            before = faults()
            shared[page * 4096]
            if faults() > before:
                return warm
            warm += 1
    return "all"
class AttackEnv:
    def reset(self, seed=None):
        libc = ctypes.CDLL(None, use_errno=True)
        file = os.open(f"{LIBRARY}/turtle.py", os.O_RDONLY)
        shared = mmap.mmap(file, 8192, prot=mmap.PROT_READ)
        reached = []
        for name, call in {
            "drop": lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED),
            "ask": lambda: os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT),
            "ask, uncached": lambda: os.preadv(file, [bytearray(1)], 0, 0x80),
            "merge": lambda: mmap.mmap(-1, 4096).madvise(12),
            "cold": lambda: shared.madvise(20), "page out": lambda: shared.madvise(21),
        }.items():
            try:
                call()
                reached.append(name)
            except PermissionError:
                pass
            except OSError as error:
                reached.append(f"{name}: {error}")
        for number in (187, 451, 277, 74, 75):
            if libc.syscall(number, file, 0, 4096, 0) != -1 or ctypes.get_errno() != 1:
                reached.append(str(number))
        assert not reached, reached
        return str(plays()), {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
