"""Other surroundings for the determinism check: the same source, weeks later, in another process.

The clock and the process id are shifted, and so is the state of the generator that the functions of
``random`` share: the sandbox seeds it before each ``reset``, but nobody does where the environment
is published to.
"""

import ast
import io

# Runs inside the jail, before the source. Both ways to a clock are covered: the functions of
# `time`, and `datetime.now` and its kin, whose classes are built in and so have to be subclassed.
# A process id may be the same in every jail, but not where the environment is published to.
PREAMBLE = """
import time as _time, datetime as _datetime
def _later(real, scale):
    return lambda *a: real(*a) + type(real(*a))(3214987 * scale)
for _name in ("time", "monotonic", "perf_counter", "process_time"):
    setattr(_time, _name + "_ns", _later(getattr(_time, _name + "_ns"), 10**9))
    setattr(_time, _name, _later(getattr(_time, _name), 1))
def _at(real):
    return lambda secs=None: real(_time.time() if secs is None else secs)
for _name in ("localtime", "gmtime", "ctime"):
    setattr(_time, _name, _at(getattr(_time, _name)))
class _Date(_datetime.date):
    @classmethod
    def today(cls): return cls.fromtimestamp(_time.time())
class _DateTime(_datetime.datetime):
    @classmethod
    def now(cls, tz=None): return cls.fromtimestamp(_time.time(), tz)
    @classmethod
    def today(cls): return cls.fromtimestamp(_time.time())
    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(_time.time(), _datetime.timezone.utc).replace(tzinfo=None)
_datetime.date, _datetime.datetime = _Date, _DateTime
import os as _os
_os.getpid, _os.getppid = (lambda: 48611), (lambda: 48593)
def _run(real):
    return lambda: type(real())([part + 3214987 for part in real()])
_os.times = _run(_os.times)
""".lstrip("\n")


# Only for a source that never seeds this generator itself; the sandbox does, and finds this one.
OTHER_DRAWS = """
import random as _random
def _elsewhere(seed=None, version=2, real=_random.seed):
    real(f"elsewhere {seed}")
_random.seed = _elsewhere
""".lstrip("\n")


def shifted(source: str, draws: bool = False) -> str:
    """Return the source with clock and process id shifted; docstring and future imports stay first.

    ``draws``: shift the generator of ``random`` as well.
    """
    # As the parser counts them: str.splitlines also breaks at form feeds and the like.
    lines = list(io.StringIO(source, newline=""))
    after = 0
    for node in ast.parse(source).body:
        documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (documents or future):
            break
        after = node.end_lineno or after
    head = "".join(lines[:after])
    if head and not head.endswith("\n"):
        head += "\n"
    return head + PREAMBLE + OTHER_DRAWS * draws + "".join(lines[after:])
