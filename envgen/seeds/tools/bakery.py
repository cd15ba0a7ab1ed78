"""API orchestration: recipe, pantry, shop and oven each know one part of what a baker must know."""

from envkit import ToolUseEnv

BREADS = ("rye loaf", "poppy roll", "oat bun", "plum cake")
STORES = ("flour", "butter", "yeast", "sugar", "seeds")


class BakeryEnv(ToolUseEnv):
    """Bake an order with a small pantry and a smaller purse."""

    def build(self, rng):
        """Draw recipes, what the pantry holds, and an order that it cannot fill."""
        self.recipes = {
            bread: {ware: rng.randint(2, 9) * 10 for ware in rng.sample(STORES, 3)}
            for bread in BREADS
        }
        self.bread, self.pieces = rng.choice(BREADS), rng.randint(3, 8)
        needs = {ware: grams * self.pieces for ware, grams in self.recipes[self.bread].items()}
        pantry = {ware: rng.randint(5, 60) * 10 for ware in STORES}
        for ware in rng.sample(sorted(needs), 2):
            pantry[ware] = needs[ware] - rng.randint(1, needs[ware] // 10 - 1) * 10
        self.missing = {w: needs[w] - pantry[w] for w in sorted(needs) if needs[w] > pantry[w]}
        self.prices = {ware: rng.randint(1, 6) for ware in STORES}  # coins for ten grams
        # The purse holds what the missing wares cost and not a coin more.
        purse = sum(grams // 10 * self.prices[ware] for ware, grams in self.missing.items())
        self.state = {"pantry": pantry, "coins": purse, "baked": {}, "sent": {}}
        self.ask(
            f"{self.pieces} pieces of {self.bread} for the school, please. Bake them.",
            until=lambda s: s["baked"].get(self.bread) == self.pieces,
        )
        self.ask(
            "They smell wonderful. Send them to the school.",
            until=lambda s: s["sent"] == {"school": {self.bread: self.pieces}},
        )
        self.never(lambda s: any(bread != self.bread for bread in s["baked"]))

    def tool_recipe(self, bread: str) -> str:
        """Tell what one piece needs.

        bread: what to bake
        """
        if bread not in self.recipes:
            return f"Error: we bake {', '.join(BREADS)}."
        return ", ".join(f"{ware} {grams} g" for ware, grams in self.recipes[bread].items())

    def tool_pantry(self) -> str:
        """List what the pantry holds, and the coins in the purse."""
        wares = ", ".join(f"{ware} {grams} g" for ware, grams in self.state["pantry"].items())
        return f"{wares}; {self.state['coins']} coins"

    def tool_price(self, ware: str) -> str:
        """Tell what ten grams of a ware cost in the shop.

        ware: what to buy
        """
        if ware not in STORES:
            return f"Error: the shop has {', '.join(STORES)}."
        return f"ten grams of {ware} cost {self.prices[ware]} coins"

    def tool_buy(self, ware: str, grams: int) -> str:
        """Buy something for the pantry; it cannot be brought back.

        ware: what to buy
        grams: how much, in tens
        """
        if ware not in STORES or grams <= 0 or grams % 10:
            return f"Error: the shop sells {', '.join(STORES)}, ten grams at a time."
        price = grams // 10 * self.prices[ware]
        if price > self.state["coins"]:
            return f"Error: that costs {price} coins; the purse holds {self.state['coins']}."
        self.state["coins"] -= price
        self.state["pantry"][ware] += grams
        return f"The pantry now holds {self.state['pantry'][ware]} g of {ware}."

    def tool_bake(self, bread: str, pieces: int) -> str:
        """Bake pieces of one kind.

        bread: what to bake
        pieces: how many
        """
        if bread not in self.recipes or pieces < 1:
            return f"Error: we bake {', '.join(BREADS)}."
        needs = {ware: grams * pieces for ware, grams in self.recipes[bread].items()}
        short = [ware for ware, grams in needs.items() if grams > self.state["pantry"][ware]]
        if short:
            return f"Error: there is not enough {' and '.join(short)}."
        for ware, grams in needs.items():
            self.state["pantry"][ware] -= grams
        self.state["baked"][bread] = self.state["baked"].get(bread, 0) + pieces
        return f"{pieces} pieces of {bread} are done."

    def tool_send(self, bread: str, pieces: int, to: str) -> str:
        """Send what is baked.

        bread: what to send
        pieces: how many
        to: who gets it
        """
        if self.state["baked"].get(bread, 0) < pieces or pieces < 1:
            return "Error: so many are not baked."
        self.state["baked"][bread] -= pieces
        self.state["sent"].setdefault(to.strip().lower(), {})[bread] = pieces
        return f"{pieces} pieces of {bread} are on their way to {to}."

    def solution(self):
        """Ask recipe and pantry, buy exactly what is missing, bake, and send."""
        order = {"bread": self.bread, "pieces": self.pieces}
        return [
            {"name": "recipe", "arguments": {"bread": self.bread}},
            {"name": "pantry", "arguments": {}},
            *(
                {"name": "buy", "arguments": {"ware": ware, "grams": grams}}
                for ware, grams in self.missing.items()
            ),
            {"name": "bake", "arguments": order},
            {"name": "send", "arguments": {**order, "to": "school"}},
        ]
