# sound: a tool list in pages, a tool that fails at first, and a default argument
from envkit import ToolUseEnv


class SeedShopEnv(ToolUseEnv):
    """Order seeds from a catalogue that comes in pages."""

    def build(self, rng):
        codes = rng.sample(range(1000, 9999), 9)
        names = rng.sample(
            ["bean", "beet", "dill", "kale", "leek", "mint", "okra", "pea", "rye"], 9
        )
        self.stock = dict(zip(codes, names, strict=True))
        self.wanted = rng.choice(codes)
        self.count = rng.randint(3, 40)
        self.state = {"orders": {}, "awake": False}
        self.ask(
            f"Please order {self.count} packets of {self.stock[self.wanted]}.",
            until=lambda s: s["orders"] == {self.wanted: self.count},
        )

    def tool_catalogue(self, page: int = 1) -> str:
        """List codes and names, three a page.

        page: from 1
        """
        rows = list(self.stock.items())[(page - 1) * 3 : page * 3] if page > 0 else []
        return "\n".join(f"{code} {name}" for code, name in rows) or "Error: pages are 1 to 3."

    def tool_order(self, code: int, packets: int) -> str:
        """Order packets by code.

        code: four digits, see catalogue
        packets: how many
        """
        if not self.state["awake"]:
            self.state["awake"] = True
            return "Error: the order desk was asleep; try again."
        if code not in self.stock:
            return f"Error: no seed has the code {code}; see catalogue."
        self.state["orders"][code] = packets
        return "Ordered."

    def solution(self):
        order = {"name": "order", "arguments": {"code": self.wanted, "packets": self.count}}
        pages = [{"name": "catalogue", "arguments": {"page": n}} for n in (1, 2, 3)]
        return [*pages, order, order]


# hint: Leaf through all pages for the code, and repeat an order that the desk slept through.
