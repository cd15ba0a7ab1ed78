# sound: a tool tells a code that is needed later; fetching it is the task
from envkit import ToolUseEnv


class SafeDepositEnv(ToolUseEnv):
    """Fetch a code from a letter and open the box it belongs to."""

    def build(self, rng):
        self.letters = {
            name: (rng.randint(1, 40), rng.randint(1000, 9999)) for name in ("Kim", "Lou", "Max")
        }
        self.name = rng.choice(list(self.letters))
        self.state = {"open": []}
        self.ask(
            f"Open {self.name}'s box.", until=lambda s: s["open"] == [self.letters[self.name][0]]
        )
        self.never(lambda s: len(s["open"]) > 1)

    def tool_read_letter(self, name: str) -> str:
        """Read somebody's letter."""
        if name not in self.letters:
            return "There is no letter."
        box, code = self.letters[name]
        return f"Your box is {box}; the code is {code}."

    def tool_open_box(self, box: int, code: int) -> str:
        """Open a box with its code."""
        if (box, code) not in self.letters.values():
            return "Error: box and code do not fit."
        self.state["open"].append(box)
        return "It is open."

    def solution(self):
        box, code = self.letters[self.name]
        return [
            {"name": "read_letter", "arguments": {"name": self.name}},
            {"name": "open_box", "arguments": {"box": box, "code": code}},
        ]


# hint: Read only the letter that you need.
