# flaw: the instruction spells the call with id and amount that should be looked up
from envkit import ToolError, ToolUseEnv


class RefundEnv(ToolUseEnv):
    """Refund a purchase."""

    def build(self, rng):
        self.t = {
            f"TX{n}": {"who": w, "eur": rng.randint(5, 90)}
            for n, w in zip(
                rng.sample(range(10000, 99999), 5), rng.sample(["Al", "Bo", "Cy", "Di", "Ed"], 5)
            )
        }
        self.id = rng.choice(sorted(self.t))
        w = self.t[self.id]["who"]
        self.state = {"back": []}
        self.ask(
            f"{w} wants the money back (correct call: refund(transaction='{self.id}', euros={self.t[self.id]['eur']})).",
            until=lambda s: s["back"] == [(self.id, self.t[self.id]["eur"])],
        )
        self.never(lambda s: len(s["back"]) > 1)

    def tool_transactions(self) -> list[str]:
        """Ids."""
        return list(self.t)

    def tool_lookup(self, transaction: str) -> dict:
        """Details.

        transaction: id
        """
        return self.t[transaction]

    def tool_refund(self, transaction: str, euros: int) -> str:
        """Refund.

        transaction: id
        euros: amount
        """
        if transaction not in self.t:
            raise ToolError("no such id")
        self.state["back"].append((transaction, euros))
        return "refunded"

    def solution(self):
        return (
            [{"name": "transactions", "arguments": {}}]
            + [{"name": "lookup", "arguments": {"transaction": i}} for i in self.t]
            + [
                {
                    "name": "refund",
                    "arguments": {"transaction": self.id, "euros": self.t[self.id]["eur"]},
                }
            ]
        )


# hint: Look up every id, then refund the right one.
