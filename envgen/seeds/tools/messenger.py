"""Tool selection: the same news, but each person wants it another way, or by way of somebody else."""

from envkit import ToolError, ToolUseEnv

NAMES = ("Alma", "Boris", "Celia", "Dmitri", "Elsa", "Farid", "Greta")
WAYS = ("text", "letter", "call", "note")


class TownMessengerEnv(ToolUseEnv):
    """Bring news to people, each in the way their card asks for."""

    def build(self, rng):
        """Write the cards; one of the people asked for wants what somebody else wants."""
        self.people = rng.sample(NAMES, 3)
        flats, numbers = rng.sample(range(1, 60), 7), rng.sample(range(2000, 9999), 7)
        streets = rng.sample(("Elm Row", "Mill Lane", "Tide Street", "Hill Way"), 4)
        self.cards = {
            name: {
                "flat": flat,
                "number": number,
                "address": f"{rng.randint(1, 90)} {rng.choice(streets)}",
                "way": rng.choice(WAYS),
            }
            for name, flat, number in zip(NAMES, flats, numbers, strict=True)
        }
        self.like = rng.choice([name for name in NAMES if name not in self.people])
        self.follows = self.people[1]
        self.cards[self.follows]["way"] = self.cards[self.like]["way"]
        self.state = {"sent": []}
        for count, name in enumerate(self.people, 1):
            self.ask(
                f"Tell {name} that the water will be off on Monday.",
                until=lambda s, n=count: len(s["sent"]) == n,
            )
        wanted = [self.delivery(name) for name in self.people]
        self.never(lambda s: s["sent"] != wanted[: len(s["sent"])])

    def delivery(self, name):
        """Return how the news gets to somebody: the way and where to."""
        card = self.cards[name]
        where = {
            "text": card["number"], "call": card["number"],
            "letter": card["address"], "note": card["flat"],
        }  # fmt: skip
        return card["way"], where[card["way"]]

    def tool_read_card(self, name: str) -> str:
        """Read somebody's card: flat, number, address, and how they want to get news.

        name: first name
        """
        if name not in self.cards:
            raise ToolError(f"there is no card for {name}; cards: {', '.join(NAMES)}")
        card = self.cards[name]
        wish = f"wants what {self.like} wants" if name == self.follows else f"wants a {card['way']}"
        return f"flat {card['flat']}, number {card['number']}, {card['address']}; {wish}"

    def tool_send_text(self, number: int) -> str:
        """Send the news as a text.

        number: the receiver's number
        """
        return self.send("text", number)

    def tool_call(self, number: int) -> str:
        """Tell the news in a call.

        number: the receiver's number
        """
        return self.send("call", number)

    def tool_send_letter(self, address: str) -> str:
        """Send the news as a letter.

        address: house number and street
        """
        return self.send("letter", address.strip())

    def tool_leave_note(self, flat: int) -> str:
        """Leave a note with the news at a door.

        flat: the receiver's flat
        """
        return self.send("note", flat)

    def tool_tell_everybody(self) -> str:
        """Cry the news in the market, for everybody and nobody."""
        return self.send("cry", "market")

    def send(self, way, where):
        """Put a message on its way; it cannot be called back."""
        self.state["sent"].append((way, where))
        return f"Sent: {way} to {where}."

    def solution(self):
        """Read each card, and the card that it points to, before sending."""
        tools = {
            "text": ("send_text", "number"), "call": ("call", "number"),
            "letter": ("send_letter", "address"), "note": ("leave_note", "flat"),
        }  # fmt: skip
        calls = []
        for name in self.people:
            calls.append({"name": "read_card", "arguments": {"name": name}})
            if name == self.follows:
                calls.append({"name": "read_card", "arguments": {"name": self.like}})
            way, where = self.delivery(name)
            tool, argument = tools[way]
            calls.append({"name": tool, "arguments": {argument: where}})
        return calls
