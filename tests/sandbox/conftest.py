"""What the sandbox's tests share: a game, a tool desk, and short limits."""

import pytest

from sandbox import SandboxConfig

SHORT = SandboxConfig(load_s=3.0, reset_s=3.0, step_s=1.0, episode_s=30.0, memory_mb=64)

GAME = '''
import random


class CountEnv:
    """Count up to a number.

    Say plus until the number is reached.
    """

    def __init__(self, max_turns=12, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.goal = random.Random(seed).randint(3, 9)
        self.count = 0
        return f"Reach {self.goal}.", {}

    def step(self, action):
        action = action.removeprefix("\\\\boxed{").removesuffix("}")
        if action.startswith("do "):
            return str(self.do(action[3:])), 0.0, False, False, {}
        self.count += action == "plus"
        won = self.count == self.goal
        return f"{self.count} {action}", float(won), won, self.count > 99, {}

    def do(self, what):
        import os, sys, time
        if what == "hang":
            while True:
                pass
        if what == "crash":
            os.abort()
        if what == "pid":
            return os.getpid()
        if what == "set":
            return list({"a", "b", "c", "d", "e", "f", "g"})
        if what == "say":
            print("said this")
            return "said"
        if what == "die":
            print("last words", flush=True)
            os._exit(7)
        if what == "wait":
            time.sleep(0.4)
            return "waited"
        raise KeyError(what)

    def solution(self):
        return ["\\\\boxed{plus}"] * self.goal
'''

DESK = '''
from envkit import ToolUseEnv


class DeskEnv(ToolUseEnv):
    """Find parcels at a desk."""

    def build(self, rng):
        self.number = rng.randint(10, 99)
        self.state = {"seen": None, "sent": None}
        self.ask("Where is it?", until=lambda s: s["seen"] == self.number)
        self.ask("Send it.", until=lambda s: s["sent"] == self.number)

    def tool_find(self, name: str) -> str:
        """Find a parcel.

        name: of the addressee
        """
        self.state["seen"] = self.number
        return f"parcel {self.number}"

    def tool_send(self, parcel: int) -> str:
        """Send a parcel."""
        self.state["sent"] = parcel
        return "sent"

    def solution(self):
        return [
            {"name": "find", "arguments": {"name": "Ito"}},
            {"name": "send", "arguments": {"parcel": self.number}},
        ]
'''


@pytest.fixture
def game() -> str:
    """A small game whose actions ``do ...`` misbehave."""
    return GAME


@pytest.fixture
def desk() -> str:
    """A small tool-use environment."""
    return DESK


@pytest.fixture
def calm() -> SandboxConfig:
    """Limits that nothing but a hang meets, also on a busy machine."""
    return SandboxConfig(load_s=20.0, reset_s=20.0, step_s=20.0, episode_s=60.0, memory_mb=64)


@pytest.fixture
def short() -> SandboxConfig:
    """Limits of seconds, so that a hang costs one."""
    return SHORT
