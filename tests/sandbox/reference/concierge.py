import random

from .tool_use_base_env import ToolUseBaseEnv as Base


class ConciergeEnv(Base):
    """Two wishes can be met, one must be declined; no `_tools`, only methods."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.room = rng.randint(101, 499)
        self.hour = rng.randint(5, 9)
        self._state = {"calls": {}, "declined": 0, "cabs": []}
        self._user_messages = [
            f"Wake room {self.room} at {self.hour}.",
            "Make it snow tomorrow, please.",
            f"Then a cab for {self.room}, one hour after that call.",
        ]
        self._message_criteria = [
            lambda s: s["calls"].get(self.room) == self.hour,
            lambda s: s["declined"] > 0,
            lambda s: s["cabs"] == [(self.room, self.hour + 1)],
        ]
        self._current_msg = 0
        return "", {}

    def tool_wake(self, room: int, hour: int) -> str:
        """Set a morning call."""
        self._state["calls"][room] = hour
        return "set"

    def tool_decline_request(self, reason: str) -> str:
        """Decline what no tool can do."""
        self._state["declined"] += self._current_msg == 1
        return "declined"

    def tool_cab(self, room: int, hour: int) -> str:
        """Order a cab."""
        self._state["cabs"].append((room, hour))
        return "ordered"

    def solution(self):
        return [
            {"name": "wake", "arguments": {"room": self.room, "hour": self.hour}},
            [{"name": "decline_request", "arguments": {"reason": "weather"}}],
            {"name": "cab", "arguments": {"room": self.room, "hour": self.hour + 1}},
            "<answer>done</answer>",
        ]
