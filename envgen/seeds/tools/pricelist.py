"""State modification: change a shared price list while a colleague changes it too."""

from envkit import ToolUseEnv

WARES = ("apples", "beets", "chard", "dates", "endive", "fennel")
GROWERS = ("North Farm", "Old Mill", "Three Elms")


class PriceListEnv(ToolUseEnv):
    """Change prices in a list that others are writing to as well."""

    max_turns = 25

    def build(self, rng):
        """Fill the list; a colleague's next changes are drawn now, so that a seed repeats them."""
        self.state = {
            "rows": {
                ware: {
                    "grower": grower,
                    "price": rng.randint(20, 90),
                    "stock": rng.randint(5, 50),
                    "version": rng.randint(3, 40),
                }
                for ware, grower in zip(rng.sample(WARES, 6), GROWERS * 2, strict=True)
            }
        }
        rows = self.state["rows"]
        self.grower, self.rise = rng.choice(GROWERS), rng.randint(2, 9)
        self.mine = [ware for ware in rows if rows[ware]["grower"] == self.grower]
        self.sale = rng.choice([ware for ware in rows if ware not in self.mine])
        self.colleague = [self.mine[1], self.sale]
        goal = {ware: rows[ware]["price"] + self.rise for ware in self.mine}
        half = rows[self.sale]["price"] // 2
        others = {w: rows[w]["price"] for w in rows if w not in self.mine and w != self.sale}
        self.ask(
            f"{self.grower} costs us more now. Raise the prices of its wares by {self.rise} each.",
            until=lambda s: all(s["rows"][ware]["price"] == goal[ware] for ware in goal),
        )
        self.ask(
            f"Sell {self.sale} at half price, rounded down.",
            until=lambda s: s["rows"][self.sale]["price"] == half,
        )
        self.never(lambda s: any(s["rows"][ware]["price"] != others[ware] for ware in others))

    def tool_list_wares(self) -> str:
        """List the wares with their growers."""
        return "; ".join(f"{ware}: {row['grower']}" for ware, row in self.state["rows"].items())

    def tool_read_ware(self, ware: str) -> str:
        """Read price, stock and version of a ware.

        ware: name of the ware
        """
        row = self.state["rows"].get(ware)
        if row is None:
            return f"Error: there is no ware {ware}; see list_wares."
        return f"{ware}: price {row['price']}, stock {row['stock']}, version {row['version']}"

    def tool_write_price(self, ware: str, price: int, version: int) -> str:
        """Write a new price. Refused when the row was changed since it was read.

        ware: name of the ware
        price: the new price
        version: the version that was read
        """
        row = self.state["rows"].get(ware)
        if row is None:
            return f"Error: there is no ware {ware}; see list_wares."
        if version != row["version"]:
            return f"Error: {ware} was changed by somebody else meanwhile; read it again."
        row["price"] = price
        row["version"] += 1
        if self.colleague:
            sold = self.state["rows"][self.colleague.pop(0)]
            sold["stock"] -= 1
            sold["version"] += 1
        return f"{ware} costs {price} now."

    def solution(self):
        """Read each row just before writing it, as somebody else writes too."""
        rows, (one, two) = self.state["rows"], self.mine
        versions = [rows[one]["version"], rows[two]["version"] + 1, rows[self.sale]["version"] + 1]
        prices = [rows[one]["price"] + self.rise, rows[two]["price"] + self.rise]
        prices.append(rows[self.sale]["price"] // 2)
        calls = [{"name": "list_wares", "arguments": {}}]
        for ware, price, version in zip((one, two, self.sale), prices, versions, strict=True):
            write = {"ware": ware, "price": price, "version": version}
            calls.append({"name": "read_ware", "arguments": {"ware": ware}})
            calls.append({"name": "write_price", "arguments": write})
        return calls
