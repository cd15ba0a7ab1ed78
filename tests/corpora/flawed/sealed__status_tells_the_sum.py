# flaw: a tool that nobody needs tells the code that should be worked out
from envkit import ToolError, ToolUseEnv


class VaultClerkEnv(ToolUseEnv):
    """Open a vault with a code to be worked out from three ledgers."""

    def build(self, rng):
        self.p = {
            n: rng.randint(1000, 30000)
            for n in rng.sample(["red", "blue", "green", "grey", "white"], 3)
        }
        self.code = sum(self.p.values())
        self.state = {"open": False, "code": self.code, "tries": 0}
        self.ask(
            "Open the vault; its code is the sum of the three ledger numbers.",
            until=lambda s: s["open"],
        )
        self.never(lambda s: s["tries"] > 2)

    def tool_ledgers(self) -> list[str]:
        """Ledger names."""
        return sorted(self.p)

    def tool_read(self, ledger: str) -> int:
        """Number of a ledger.

        ledger: name
        """
        return self.p[ledger]

    def tool_status(self) -> dict:
        """State of the vault."""
        return dict(self.state)

    def tool_open(self, code: int) -> str:
        """Try a code.

        code: the sum
        """
        self.state["tries"] += 1
        if code != self.code:
            raise ToolError("wrong code")
        self.state["open"] = True
        return "open"

    def solution(self):
        return (
            [{"name": "ledgers", "arguments": {}}]
            + [{"name": "read", "arguments": {"ledger": n}} for n in sorted(self.p)]
            + [{"name": "open", "arguments": {"code": self.code}}]
        )


# hint: Read all ledgers and add.
