# flaw: the error tells the PIN that had to be worked out
from envkit import ToolError, ToolUseEnv


class SafeEnv(ToolUseEnv):
    """Open a safe whose PIN is the day sum of the diary."""

    def build(self, rng):
        self.days = [rng.randint(100, 999) for _ in range(4)]
        self.state = {"open": False, "tries": 0}
        self.ask(
            "Open my safe. The PIN is the sum of the four numbers in my diary.",
            until=lambda s: s["open"],
        )
        self.never(lambda s: s["tries"] > 3)

    def tool_read_diary(self, page: int) -> int:
        """Read one page of the diary.

        page: 1 to 4
        """
        if page not in (1, 2, 3, 4):
            raise ToolError("no such page")
        return self.days[page - 1]

    def tool_enter_pin(self, pin: int) -> str:
        """Enter the PIN.

        pin: the number
        """
        if pin != sum(self.days):
            self.state["tries"] += 1
            raise ToolError(f"wrong PIN {pin}; expected {sum(self.days)}")
        self.state["open"] = True
        return "open"

    def solution(self):
        return [
            [{"name": "read_diary", "arguments": {"page": p}} for p in (1, 2, 3, 4)],
            {"name": "enter_pin", "arguments": {"pin": sum(self.days)}},
        ]
