import random

from tool_use_base_env import ToolUseBaseEnv


class HelpDeskEnv(ToolUseBaseEnv):
    """Work through tickets; it never moves on by itself and tells no solution."""

    def __init__(self, max_turns=15, **kwargs):
        super().__init__(max_turns=max_turns, **kwargs)
        self.opened_at_start = len(self._state["open"])

    def reset(self, seed=None):
        rng = random.Random(seed)
        numbers = rng.sample(range(100, 1000), 4)
        self._state = {
            "open": {number: rng.choice(["low", "high"]) for number in numbers},
            "read": [],
            "owner": {},
        }
        self.oldest = min(numbers)
        self._tools = {
            "list_open": {"description": "List open tickets", "parameters": {}},
            "read": {"description": "Read one ticket", "parameters": {"ticket": "int"}},
            "assign": {
                "description": "Give a ticket to somebody",
                "parameters": {
                    "ticket": {"type": int, "required": True},
                    "to": {"type": "str", "enum": {"Kim", "Lou"}},
                },
            },
            "archive": {"description": "Archive a ticket", "parameters": {"ticket": "int"}},
        }
        self._user_messages = [
            "Read the ticket with the lowest number.",
            "Give it to Kim.",
            "And archive it.",
        ]
        self._message_criteria = [
            lambda s: self.oldest in s["read"],
            lambda s: s["owner"][self.oldest] == "Kim",
            lambda s: self.oldest not in s["open"],
        ]
        return self._user_messages[0], {}

    def tool_list_open(self):
        return sorted(self._state["open"])

    def tool_read(self, ticket):
        self._state["read"].append(ticket)
        return {"ticket": ticket, "urgency": self._state["open"][ticket]}

    def tool_assign(self, ticket, to="Lou"):
        self._state["owner"][ticket] = to

    def tool_archive(self, ticket):
        if self._state["owner"].get(ticket) is None:
            raise ValueError("nobody has taken it on yet")
        del self._state["open"][ticket]
        return "archived"
