"""The program inside the jail: compiles the source once, forks one child per episode.

Standard library only, one file, Python 3.11 or newer; the host never imports it. This process
(process 1 of its namespace) never runs the environment's code: it compiles it, and every child runs
it from the start in its own memory. So nothing that an environment does, at-fork hooks and
module state included, can reach another episode or the program that opens it.

Control socket (descriptor 3, SOCK_SEQPACKET), one JSON object per message:

    host:  {"limits": {...}}; the source's bytes; {"open": n} with one socket; {"kill": n}
    guest: {"ready": true}; {"compiled": true} or {"fault": {...}};
           {"ended": n, "status", "log"}; {"doomed": n, "pid"}

Nobody inside a jail may send a signal, this program included, so that no episode can end another:
asked to kill a child it names the child's process id, and the host does it from outside. Without a
jail it kills by itself.

Episode sockets: {"id", "op": "describe" | "reset" | "step" | "solution", ...} answered by one frame
with the same id; the child ends when its socket is closed. This file and its twin rules in
``protocol.py`` state the same contract; the host believes only its own.

What is imported here is paid for by every cold start and every page a child touches by every
episode: about 4 us each. Hence ``_json`` without ``json`` (which needs ``re``) and the like.
"""

import _json
import _signal  # type: ignore[import-not-found]
import _socket
import gc
import io
import math
import os
import resource
import select
import sys

CONTROL = 3
QUIET_MS = 1
NAME = "environment"
DETAIL = 300
MODULE = type(sys)
PRACTICE = """
class PracticeEnv:
    def reset(self, seed=None):
        return "", {}

    def step(self, action):
        return "", 0.0, False, False, {}
"""
# Importing these has effects or waits for a display; the environment may still do it by itself.
NOT_AHEAD = {"this", "antigravity", "idlelib", "turtle", "tkinter", "turtledemo", "test", "lib2to3"}


TYPE_CHECKING = False
if TYPE_CHECKING:
    # Importing typing would cost every cold start two milliseconds.
    from typing import Any

    Frame = dict[str, Any]
else:
    Any = Frame = object


class Breach(Exception):
    """The environment broke its contract; the text teaches the author."""


# ---------------------------------------------------------------- JSON, by the C parts of ``json``


class Strictness:
    """What the C scanner reads its settings from; the host's frames need nothing special."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float = float
    parse_int = int


def not_json(value: object) -> Any:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def encoder(item: str, key: str) -> Any:
    return _json.make_encoder(
        None, not_json, _json.encode_basestring_ascii, None, key, item, False, False, True
    )


STRICT: Any = Strictness
SCAN = _json.make_scanner(STRICT)
COMPACT = encoder(",", ":")
SPACED = encoder(", ", ": ")


def decode(data: Any) -> Any:
    return SCAN(str(data, "utf-8"), 0)[0]


def encode(frame: Any) -> bytes:
    return "".join(COMPACT(frame, 0)).encode()


def send(sock: _socket.socket, frame: Frame) -> None:
    sock.send(encode(frame))


# ---------------------------------------------------------------- the parent: never runs the source


def main() -> None:
    control = _socket.socket(fileno=CONTROL)
    start = control.recv(1 << 16)
    if not start:
        return
    limits = decode(start)["limits"]
    # A few lines, finally within finally, compile to gigabytes.
    most = address_space() + (limits["memory_mb"] << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    send(control, {"ready": True})
    source = control.recv(limits["max_source_bytes"] + 1)
    if not source:
        return
    try:
        # As text, like the host reads it: bytes would obey a coding line.
        code = compile(str(source, "utf-8"), NAME + ".py", "exec", dont_inherit=True)
    except SyntaxError as error:
        detail = f"line {error.lineno}: {type(error).__name__}: {error.msg}"
        send(control, {"fault": {"reason": "raised", "detail": printable(detail)}})
        return
    except (ValueError, MemoryError, RecursionError) as error:
        send(control, {"fault": {"reason": "raised", "detail": describe_error(error)}})
        return
    import_ahead(source)
    if b"ToolUseBaseEnv" in source:
        __import__("reference").provide(source.decode("utf-8", "replace"), code)
    send(control, {"compiled": True})
    Nursery(control, code, limits).run()


def import_ahead(source: bytes) -> None:
    """Import the standard modules that the source names, so that no episode pays for them."""
    for line in source.decode("utf-8", "replace").splitlines():
        words = line.replace(",", " ").split()
        if len(words) > 1 and words[0] in ("import", "from"):
            for word in words[1:] if words[0] == "import" else words[1:2]:
                top = word.partition(".")[0]
                if word == "envkit" or (
                    top in sys.stdlib_module_names
                    and top not in NOT_AHEAD
                    and not word.endswith("__main__")  # a program, and some start at once
                ):
                    try:
                        __import__(word)
                    except BaseException:
                        continue  # the child meets the same error and reports it


class Child:
    """One episode's process, as the parent knows it: its process id, its door, its log.

    ``number`` is the episode's, None while the process waits for one.
    """

    def __init__(self, pid: int, door: _socket.socket, log: int) -> None:
        self.number: int | None = None
        self.pid, self.door, self.log = pid, door, log


class Nursery:
    """Opens and reaps episodes until the host closes the control socket.

    One child is always forked ahead and waits at its door for an episode's socket, so that nobody
    waits for the fork. Like every child it has not run the source.
    """

    def __init__(self, control: _socket.socket, code: Any, limits: dict[str, int]) -> None:
        self.control, self.code, self.limits = control, code, limits
        self.jailed = bool(limits["jailed"])  # in there getpid() tells nothing
        self.children: dict[int, Child] = {}  # by the descriptor that tells their end
        self.waiting: Child | None = None
        self.wanted = True  # whether to fork one ahead at the next quiet moment
        self.poller = select.poll()
        self.poller.register(CONTROL, select.POLLIN)
        # Whatever is made or set here costs a child nothing; there it would be copied by pages.
        self.practice = compile(PRACTICE, NAME + ".py", "exec", dont_inherit=True)
        self.buffer = memoryview(bytearray(limits["frame_bytes"] + 1))
        log_file: Any = Log(limits["log_bytes"])
        # Unbuffered, as python -u has it: what was printed before a crash is in the log.
        output = io.TextIOWrapper(log_file, "utf-8", "replace", write_through=True)
        for name in ("stdout", "__stdout__", "stderr", "__stderr__"):
            setattr(sys, name, output)
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        bound(resource.RLIMIT_FSIZE, 0)
        bound(resource.RLIMIT_CORE, 0)
        gc.collect()
        bound(resource.RLIMIT_AS, address_space() + (limits["memory_mb"] << 20))
        gc.freeze()
        gc.disable()

    def run(self) -> None:
        while True:
            # Not at once: the child that has just been woken needs the processor more.
            events = self.poller.poll(QUIET_MS if self.wanted else None)
            if not events:
                self.fork_ahead()
            for descriptor, _ in events:
                if descriptor != CONTROL:
                    self.reap(descriptor)
                elif not self.command():
                    # The end of a jail's process 1 ends all others; elsewhere nothing else does.
                    if not self.jailed:
                        for child in self.children.values():
                            end(child.pid)
                            os.waitpid(child.pid, 0)
                    return

    def command(self) -> bool:
        data, ancillary, _, _ = self.control.recvmsg(512, _socket.CMSG_SPACE(4))
        if not data:
            return False
        message = decode(data)
        if "open" in message:
            sock = int.from_bytes(ancillary[0][2][:4], sys.byteorder)
            try:
                self.open(message["open"], sock)
            finally:
                os.close(sock)
        elif "kill" in message:
            for child in self.children.values():
                if child.number == message["kill"]:
                    if self.jailed:
                        send(self.control, {"doomed": child.number, "pid": child.pid})
                    else:
                        end(child.pid)
        return True

    def open(self, number: int, sock: int) -> None:
        detail = "no process for the episode"
        # One that waited may have been killed for memory that others took.
        for _ in range(2):
            try:
                child = self.waiting or self.fork(ahead=False)
                self.waiting, self.wanted = None, True
                child.door.sendmsg([b"\0"], [rights(sock)])
            except OSError as error:
                detail = describe_error(error)
                continue
            child.number = number
            child.door.close()
            return
        # The host sees the closed socket and this line.
        send(self.control, {"ended": number, "status": -1, "log": detail})

    def fork_ahead(self) -> None:
        self.wanted = False
        try:
            self.waiting = self.fork(ahead=True)
        except OSError:
            return  # the next opening tries again and reports it

    def fork(self, ahead: bool) -> Child:
        opened: tuple[int, ...] = ()
        door, inner = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        try:
            opened = log_read, log_write = os.pipe2(os.O_NONBLOCK)
            pid = os.fork()
        except OSError:
            door.close()
            inner.close()
            for descriptor in opened:
                os.close(descriptor)
            raise
        if pid == 0:
            try:
                self.become_episode(inner.fileno(), log_write)
                episode = Episode(self.code, self.limits, self.control, self.buffer)
                if ahead:
                    episode.warm_up(self.practice)
                if self.receive_socket():
                    episode.serve()
            finally:
                os._exit(0)
        os.close(log_write)
        inner.close()
        ends = os.pidfd_open(pid)
        self.poller.register(ends, select.POLLIN)
        child = self.children[ends] = Child(pid, door, log_read)
        return child

    def receive_socket(self) -> bool:
        """In the child: wait for the episode's socket; false when the parent has gone."""
        data, ancillary, _, _ = self.control.recvmsg(1, _socket.CMSG_SPACE(4))
        if not data:
            return False
        sock = int.from_bytes(ancillary[0][2][:4], sys.byteorder)
        os.dup2(sock, CONTROL)
        os.close(sock)
        return True

    def become_episode(self, door: int, log: int) -> None:
        """In the child: keep its door and its log, give up the rest, take on its limits."""
        if not self.jailed:
            os.setsid()
        os.dup2(door, CONTROL)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.closerange(4, 65536)
        # Flags of a description that all episodes share would outlive them: an empty pipe instead.
        empty, writer = os.pipe()
        os.dup2(empty, 0)
        os.close(empty)
        os.close(writer)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        gc.enable()

    def reap(self, descriptor: int) -> None:
        self.poller.unregister(descriptor)
        child = self.children.pop(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(child.pid, 0)
        try:
            text = os.read(child.log, self.limits["log_bytes"])
        except BlockingIOError:
            text = b""
        os.close(child.log)
        if child.number is None:
            child.door.close()
            if child is self.waiting:
                self.waiting = None  # the next opening forks; at once again might be for ever
            return
        word = {
            "ended": child.number,
            "status": os.waitstatus_to_exitcode(status),
            "log": text.decode("utf-8", "replace"),
        }
        send(self.control, word)


def rights(descriptor: int) -> Any:
    """What hands a descriptor over with a message."""
    data = descriptor.to_bytes(4, sys.byteorder)
    return _socket.SOL_SOCKET, _socket.SCM_RIGHTS, data


def end(pid: int) -> None:
    """Without a jail: kill an episode and, as it leads its own process group, all of that."""
    for kill in (os.kill, os.killpg):
        try:
            kill(pid, _signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


# ---------------------------------------------------------------- the child: one episode


def bound(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def address_space() -> int:
    """Bytes of address space in use now; without /proc an upper bound from the resident size."""
    try:
        with open("/proc/self/statm") as statm:  # noqa: PTH123 - pathlib is slow to import
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) + (64 << 20)


class Log(io.RawIOBase):
    """The first bytes of the environment's output; the rest is swallowed, never an error."""

    def __init__(self, room: int) -> None:
        self.room = room

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, data) -> int:  # type: ignore[no-untyped-def]
        size = len(data)
        keep = bytes(data[: self.room])
        if keep:
            self.room -= len(keep)
            try:
                os.write(1, keep)
            except OSError:
                self.room = 0
        return size


class Episode:
    """Answers the host's requests with one instance of the environment."""

    def __init__(
        self, code: Any, limits: dict[str, int], sock: _socket.socket, buffer: memoryview
    ) -> None:
        self.code, self.limits, self.sock, self.buffer = code, limits, sock, buffer
        self.kind: Any = None
        self.instance: Any = None
        self.loaded = False
        self.tools = False
        self.adapter: Any = None

    def warm_up(self, practice: Any) -> None:
        """While waiting, make this process's own copies of the pages that every episode writes to."""
        code, self.code = self.code, practice
        for request in (b'{"op":"reset","id":0,"seed":0}', b'{"op":"step","id":0,"action":""}'):
            self.buffer[: len(request)] = request
            encode(self.answer(decode(self.buffer[: len(request)])))
        del sys.modules[NAME]
        self.code, self.kind, self.instance, self.loaded = code, None, None, False

    def serve(self) -> None:
        cap = self.limits["frame_bytes"]
        while True:
            size = self.sock.recv_into(self.buffer)
            if not size:
                return
            request = decode(self.buffer[:size])
            reply = self.answer(request)
            try:
                frame = encode(reply)
                if len(frame) > cap:
                    frame = b""
            except MemoryError:
                frame = b""
            except Exception as error:
                reply = self.fault("raised", describe_error(error))
                reply["id"] = request["id"]
                frame = encode(reply)
            if not frame:
                reply = self.fault("oversize", f"a reply exceeds {cap} bytes")
                reply["id"] = request["id"]
                frame = encode(reply)
            self.sock.send(frame)

    def answer(self, request: Frame) -> Frame:
        try:
            reply: Frame = getattr(self, "do_" + request["op"])(request)
        except Breach as error:
            reply = self.fault("contract", str(error))
        except MemoryError:
            self.instance = None
            reply = self.fault("memory", f"more than {self.limits['memory_mb']} MB")
        except BaseException as error:
            reply = self.fault("raised", describe_error(error))
        reply["id"] = request["id"]
        return reply

    def fault(self, reason: str, detail: str) -> Frame:
        detail = printable(detail)[:DETAIL]
        return {"fault": {"reason": reason, "detail": detail, "load": not self.loaded}}

    def load(self) -> None:
        module = MODULE(NAME)
        sys.modules[NAME] = module
        reference = sys.modules.get("reference")
        if reference is not None:
            module.__dict__.update(reference.GIVEN)
        exec(self.code, module.__dict__)  # noqa: S102 - what this program is for
        self.kind = find_class(module)
        if reference is not None and issubclass(self.kind, reference.ToolUseBaseEnv):
            self.adapter = reference
        kit = sys.modules.get("envkit")
        ours = kit is not None and issubclass(self.kind, kit.ToolUseEnv)
        self.tools = ours or self.adapter is not None
        self.loaded = True

    def do_describe(self, request: Frame) -> Frame:
        self.load()
        text = self.kind.__doc__ if isinstance(self.kind.__doc__, str) else ""
        lines = [line.strip() for line in text.strip().splitlines()]
        if self.adapter:
            facts = self.adapter.describe(self.kind)
        else:
            solve = callable(getattr(self.kind, "solution", None))
            facts = {"tools": self.kind.schemas() if self.tools else [], "has_solution": solve}
        return {
            "class_name": self.kind.__name__,
            "title": lines[0] if lines and lines[0] else self.kind.__name__,
            "description": "\n".join(lines),
            "setting": "tool_use" if self.tools else "game",
            "max_turns": turn_cap(self.kind),
            **facts,
        }

    def do_reset(self, request: Frame) -> Frame:
        if not self.loaded:
            self.load()
        seed = request["seed"]
        if "random" in sys.modules:
            # An environment that draws from the shared generator is still a function of its seed.
            sys.modules["random"].seed(seed)
        self.instance = self.kind()
        if self.adapter:
            self.instance = self.adapter.Desk(self.instance)
        result = self.instance.reset(seed=seed)
        if not isinstance(result, tuple) or len(result) != 2:
            raise Breach(f"reset() must return (observation, info), not {shape(result)}")
        return {"obs": self.messages(result[0], "reset()")}

    def do_step(self, request: Frame) -> Frame:
        result = self.instance.step(request["action"])
        if not isinstance(result, tuple) or len(result) != 5:
            raise Breach(
                "step() must return (observation, reward, terminated, truncated, info), "
                f"not {shape(result)}"
            )
        observation, reward, terminated, truncated, _ = result
        if isinstance(reward, bool) or not isinstance(reward, (int, float)):
            raise Breach(f"step() gave a reward of type {type(reward).__name__}, not a number")
        try:
            reward = float(reward)
        except OverflowError:
            reward = math.inf
        if not math.isfinite(reward):
            raise Breach(f"step() gave the reward {reward!r}, which is not finite")
        if not isinstance(terminated, bool) or not isinstance(truncated, bool):
            raise Breach("step() must give terminated and truncated as booleans")
        return {
            "obs": self.messages(observation, "step()"),
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
        }

    def do_solution(self, request: Frame) -> Frame:
        solve = getattr(self.instance, "solution", None)
        if not callable(solve):
            raise Breach("there is no solution()")
        result = solve()
        if self.tools:
            if not isinstance(result, (list, tuple)):
                raise Breach(f"solution() must return a list of calls, not {shape(result)}")
            return {"actions": [tool_action(item) for item in result]}
        if isinstance(result, str):
            result = [result if result.startswith("\\boxed{") else "\\boxed{" + result + "}"]
        if not isinstance(result, (list, tuple)) or not all(isinstance(a, str) for a in result):
            raise Breach(f"solution() must return a list of strings, not {shape(result)}")
        return {"actions": [str(action) for action in result]}

    def messages(self, value: object, where: str) -> list[list[object]]:
        if not self.tools:
            if not isinstance(value, str):
                raise Breach(f"{where} must give text as observation, not {shape(value)}")
            return [["user", str(value)]]
        if not isinstance(value, list):
            raise Breach(f"{where} must give a list of messages, not {shape(value)}")
        return [[message["role"], message["content"]] for message in value]


def find_class(module: Any) -> Any:
    """The one public class of the module whose name ends in Env."""
    found = [
        value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and value.__module__ == NAME
        and name == value.__name__
        and name.endswith("Env")
        and not name.startswith("_")
    ]
    if len(found) != 1:
        names = ", ".join(kind.__name__ for kind in found) or "none"
        raise Breach("there must be one public class whose name ends in Env; found: " + names)
    for name in ("reset", "step"):
        if not callable(getattr(found[0], name, None)):
            raise Breach(f"{found[0].__name__} has no method {name}()")
    return found[0]


def turn_cap(kind: Any) -> int | None:
    """The turn cap that a class states: its attribute, or the default of its argument."""
    value = getattr(kind, "max_turns", None)
    init = getattr(kind.__init__, "__code__", None)
    if init is not None:
        names = init.co_varnames[: init.co_argcount]
        defaults = kind.__init__.__defaults__ or ()
        stated = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        stated.update(kind.__init__.__kwdefaults__ or {})
        if stated.get("max_turns") is not None:
            value = stated["max_turns"]
    return value if type(value) is int and 0 < value <= 100_000 else None


def tool_action(item: object) -> str:
    """One action of a tool play: a call, several calls made together, a closing text, or all.

    The last is the form that ``step`` takes: ``{"content": str, "tool_calls": [...]}``.
    """
    content: object = ""
    calls: object = item
    if isinstance(item, str):
        content, calls = item, []
    elif isinstance(item, dict) and "name" not in item and {"content", "tool_calls"} & {*item}:
        content, calls = item.get("content") or "", item.get("tool_calls") or []
    elif isinstance(item, dict):
        calls = [item]
    if not (
        isinstance(content, str)
        and isinstance(calls, (list, tuple))
        and all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls)
    ):
        raise Breach(
            'solution() must list calls like {"name": ..., "arguments": {...}}, and replies '
            'without calls as text, "Done.", or {"content": "Done.", "tool_calls": []}'
        )
    action = {
        "content": content,
        "tool_calls": [
            {"name": call["name"], "arguments": call.get("arguments", {})} for call in calls
        ],
    }
    return "".join(SPACED(action, 0))


def shape(value: object) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"a value of type {type(value).__name__}"


def describe_error(error: BaseException) -> str:
    """Type, message and the last line of the source, short, whatever the exception does."""
    try:
        text = str(error)
    except BaseException:
        text = "(no message)"
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == NAME + ".py":
            line = trace.tb_lineno
        trace = trace.tb_next
    where = "" if line is None else f" (line {line})"
    return printable(f"{type(error).__name__}: {text[: DETAIL - 100]}" + where)


def printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
