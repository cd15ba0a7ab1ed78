"""Data retrieval: find parcels in a register, read their labels, and put two things right."""

from typing import Literal

from envkit import ToolUseEnv

NAMES = ("A. Ito", "B. Okoro", "C. Lindgren", "D. Marsh", "E. Ito", "F. Navarro")
STREETS = ("Mill Lane", "Lock Street", "Orchard Row", "Bee Hill", "Harbour Road")


class ParcelDeskEnv(ToolUseEnv):
    """Find parcels, correct addresses and book deliveries at a parcel desk."""

    def build(self, rng):
        """Fill the register; one parcel has the wrong house number, another has to be booked."""
        numbers = rng.sample(range(100, 1000), len(NAMES))
        self.state = {
            "parcels": {
                number: {
                    "name": name,
                    "address": f"{rng.randint(2, 60)} {rng.choice(STREETS)}",
                    "grams": rng.randint(2, 90) * 100,
                    "run": "none",
                }
                for number, name in zip(numbers, NAMES, strict=True)
            }
        }
        self.wrong, self.wanted = rng.sample(numbers, 2)
        wrong, wanted = self.state["parcels"][self.wrong], self.state["parcels"][self.wanted]
        self.address = f"{rng.randint(61, 99)} {rng.choice(STREETS)}"
        # The state alone decides whether an instruction is done, however the assistant got there.
        self.run = "van" if wanted["grams"] > 3000 else "bicycle"
        self.ask(
            f"The parcel for {wrong['name']} must go to {self.address} instead. "
            "Please correct its address.",
            until=lambda s: s["parcels"][self.wrong]["address"] == self.address,
        )
        self.ask(
            f"Now book a delivery for {wanted['name']}: by van if the parcel is heavier than "
            "3000 grams, else by bicycle.",
            until=lambda s: s["parcels"][self.wanted]["run"] == self.run,
        )
        # Booking or changing anybody else's parcel cannot be taken back.
        others = {number: dict(parcel) for number, parcel in self.state["parcels"].items()}
        touched = {self.wrong, self.wanted}
        self.never(
            lambda s: (
                any(s["parcels"][n] != others[n] for n in others if n not in touched)
                or s["parcels"][self.wanted]["run"] not in ("none", self.run)
            )
        )

    def tool_find_parcels(self, name: str) -> str:
        """List the numbers of the parcels for an addressee.

        name: full name of the addressee, as on the label
        """
        found = [
            str(number)
            for number, parcel in self.state["parcels"].items()
            if parcel["name"].lower() == name.strip().lower()
        ]
        return f"Parcels: {', '.join(found)}" if found else f"No parcel for {name}."

    def tool_read_label(self, number: int) -> str:
        """Read a parcel's label: addressee, address, weight and delivery.

        number: the parcel's number
        """
        parcel = self.state["parcels"].get(number)
        if parcel is None:
            return f"Error: no parcel has the number {number}; look it up with find_parcels."
        return (
            f"{number}: {parcel['name']}, {parcel['address']}, {parcel['grams']} grams, "
            f"delivery: {parcel['run']}"
        )

    def tool_set_address(self, number: int, address: str) -> str:
        """Write a new address on a parcel.

        number: the parcel's number
        address: house number and street
        """
        if number not in self.state["parcels"]:
            return f"Error: no parcel has the number {number}; look it up with find_parcels."
        self.state["parcels"][number]["address"] = address.strip()
        return f"Parcel {number} now goes to {address.strip()}."

    def tool_book_delivery(self, number: int, run: Literal["van", "bicycle"]) -> str:
        """Book a parcel on today's delivery.

        number: the parcel's number
        run: who takes it
        """
        if number not in self.state["parcels"]:
            return f"Error: no parcel has the number {number}; look it up with find_parcels."
        self.state["parcels"][number]["run"] = run
        return f"Parcel {number} goes by {run}."

    def solution(self):
        """Look everything up as an assistant would have to, then act."""
        wrong, wanted = self.state["parcels"][self.wrong], self.state["parcels"][self.wanted]
        return [
            {"name": "find_parcels", "arguments": {"name": wrong["name"]}},
            {
                "name": "set_address",
                "arguments": {"number": self.wrong, "address": self.address},
            },
            {"name": "find_parcels", "arguments": {"name": wanted["name"]}},
            {"name": "read_label", "arguments": {"number": self.wanted}},
            {"name": "book_delivery", "arguments": {"number": self.wanted, "run": self.run}},
        ]
