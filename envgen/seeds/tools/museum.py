"""Data retrieval: a catalogue that answers page by page, and a question that joins two of its lists."""

from envkit import ToolUseEnv

PLACES = ("Lisbon", "Bergen", "Kyoto", "Quito", "Tunis")
KINDS = ("vase", "map", "mask", "clock", "coin", "drum")
PAGE = 3


class MuseumStoreEnv(ToolUseEnv):
    """Answer a curator's questions from a catalogue that gives three lines at a time."""

    def build(self, rng):
        """Fill the catalogue: eighteen objects, each with a place, a year and a shelf."""
        numbers = rng.sample(range(1000, 10000), 18)
        years = rng.sample(range(1500, 1990), 18)
        self.state = {
            "objects": {
                number: {
                    "kind": rng.choice(KINDS),
                    "place": PLACES[index % 2] if index < 9 else rng.choice(PLACES),
                    "year": year,
                    "lent": rng.random() < 0.4,
                }
                for index, (number, year) in enumerate(zip(numbers, years, strict=True))
            },
            "counts": [],
            "desk": [],
        }
        objects = self.state["objects"]
        self.place = rng.choice(PLACES[:2])
        self.here = [n for n in numbers if objects[n]["place"] == self.place]
        objects[rng.choice(self.here)]["lent"] = False
        inside = [n for n in self.here if not objects[n]["lent"]]
        self.count, self.oldest = len(inside), min(inside, key=lambda n: objects[n]["year"])
        # Marks that lead from page to page cannot be guessed.
        self.marks = {rng.randrange(16**6): start for start in range(PAGE, len(numbers), PAGE)}
        self.ask(
            f"How many objects from {self.place} are in the house, not lent out? Note the number.",
            until=lambda s: s["counts"] == [self.count],
        )
        self.ask(
            "Bring the oldest of those to my desk.", until=lambda s: s["desk"] == [self.oldest]
        )
        self.never(lambda s: len(s["counts"]) > 1 or len(s["desk"]) > 1)

    def tool_search(self, place: str, mark: str = "") -> str:
        """List objects from a place, three at a time: number, kind and year.

        place: where the objects come from
        mark: what the page before gave to go on with; leave it out for the first page
        """
        found = [n for n, item in self.state["objects"].items() if item["place"] == place]
        if not found:
            return f"Error: nothing from {place}; there are objects from {', '.join(PLACES)}."
        marks = {f"{mark:06x}": start for mark, start in self.marks.items()} | {"": 0}
        if mark not in marks:
            return f"Error: no page has the mark {mark}; begin without one."
        start = marks[mark]
        rows = [
            f"{number}: {self.state['objects'][number]['kind']}, "
            f"{self.state['objects'][number]['year']}"
            for number in found[start : start + PAGE]
        ]
        more = [m for m, at in marks.items() if at == start + PAGE and at < len(found)]
        return "\n".join(rows + [f"more with mark {m}" for m in more])

    def tool_whereabouts(self, number: int) -> str:
        """Tell whether an object is in the house or lent out.

        number: the object's number
        """
        item = self.state["objects"].get(number)
        if item is None:
            return f"Error: no object has the number {number}; see search."
        return "lent out" if item["lent"] else "in the house"

    def tool_note_number(self, number: int) -> str:
        """Write the answer to the curator's question into the book; once only, in ink.

        number: the answer
        """
        self.state["counts"].append(number)
        return "It stands in the book."

    def tool_bring(self, number: int) -> str:
        """Bring an object to the curator's desk.

        number: the object's number
        """
        item = self.state["objects"].get(number)
        if item is None or item["lent"]:
            return "Error: there is no such object in the house."
        self.state["desk"].append(number)
        return f"{number} stands on the desk."

    def solution(self):
        """Read all pages, ask where each object is, note the number, and bring the oldest."""
        marks = {start: f"{mark:06x}" for mark, start in self.marks.items()}
        pages = [
            {
                "name": "search",
                "arguments": {"place": self.place} | ({"mark": marks[at]} if at else {}),
            }
            for at in range(0, len(self.here), PAGE)
        ]
        asked = [{"name": "whereabouts", "arguments": {"number": n}} for n in self.here]
        return [
            *pages,
            asked,
            {"name": "note_number", "arguments": {"number": self.count}},
            {"name": "bring", "arguments": {"number": self.oldest}},
        ]
