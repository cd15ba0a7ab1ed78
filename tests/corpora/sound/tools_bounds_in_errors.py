# sound: an error tells the least bid, and the user a password, as users and tools do
from envkit import ToolError, ToolUseEnv


class AuctionDeskEnv(ToolUseEnv):
    """Log in at an auction house and place the least bid that counts."""

    def build(self, rng):
        self.lots = {f"L{n}": rng.randint(1200, 9800) for n in rng.sample(range(100, 999), 5)}
        self.lot = rng.choice(sorted(self.lots))
        self.word = "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(4))
        self.state = {"in": False, "bids": []}
        self.ask(
            f"Log in (my password: {self.word}) and bid on lot {self.lot}, no coin more than needed.",
            until=lambda s: s["bids"] == [(self.lot, self.lots[self.lot])],
        )
        self.never(lambda s: len(s["bids"]) > 1)

    def tool_lots(self) -> list[str]:
        """List the lots."""
        return sorted(self.lots)

    def tool_least_bid(self, lot: str) -> str:
        """Tell the least bid on a lot.

        lot: its number
        """
        if lot not in self.lots:
            raise ToolError("no such lot; lots are " + ", ".join(sorted(self.lots)))
        return f"{self.lots[lot]} coins"

    def tool_log_in(self, password: str) -> str:
        """Log in."""
        if password != self.word:
            raise ToolError("wrong password")
        self.state["in"] = True
        return "welcome"

    def tool_bid(self, coins: int, lot: str | None = None) -> str:
        """Bid on a lot, or on the one that is called now.

        coins: what to bid
        lot: its number
        """
        lot = lot or self.lot
        if lot not in self.lots:
            raise ToolError("no such lot; lots are " + ", ".join(sorted(self.lots)))
        if coins < self.lots[lot]:
            raise ToolError(f"bids on {lot} must be at least {self.lots[lot]}, not {coins}")
        if not self.state["in"]:
            raise ToolError("log in first")
        self.state["bids"].append((lot, coins))
        return "taken"

    def solution(self):
        return [
            {"name": "least_bid", "arguments": {"lot": self.lot}},
            {"name": "log_in", "arguments": {"password": self.word}},
            {"name": "bid", "arguments": {"lot": self.lot, "coins": self.lots[self.lot]}},
        ]


# hint: Ask for the least bid before you place one.
