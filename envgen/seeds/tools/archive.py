"""Tool selection: four ways to search one archive, of which only one fits each question."""

from envkit import ToolError, ToolUseEnv

WRITERS = ("Ada Brook", "Ben Marsh", "Cora Field", "Dan Rivers", "Eve Hill")
PLACES = ("Marsh", "Brook", "Field", "Hill", "Rivers")  # a writer's name may be a place's as well
THINGS = ("the ferry", "the new bell", "a lost goat", "the flood", "the dry well", "a wedding")
KINDS = ("letter", "diary", "bill", "map", "speech")


class ArchiveDeskEnv(ToolUseEnv):
    """Order copies from an archive whose indexes each know something else."""

    max_turns = 16

    def build(self, rng):
        """Draw the papers: title, writer, year, the place it is kept under and what it tells of."""
        numbers = rng.sample(range(100, 1000), 10)
        titles = rng.sample([f"{kind} no. {n}" for kind in KINDS for n in range(1, 9)], 10)
        self.papers = {
            number: {
                "title": title,
                "writer": WRITERS[place % 5],
                "year": 1880 + 3 * place + rng.randint(0, 2),
                "place": rng.choice(PLACES),
                "tells": rng.choice(THINGS[:-1]),
            }
            for place, (number, title) in enumerate(zip(numbers, titles, strict=True))
        }
        told, titled, later = rng.sample(numbers, 3)
        # Only one paper speaks of it, and no index knows that.
        self.papers[told]["tells"] = THINGS[-1]
        writer = self.papers[later]["writer"]
        theirs = [n for n in numbers if self.papers[n]["writer"] == writer]
        self.wanted = [told, titled, max(theirs, key=lambda n: self.papers[n]["year"])]
        self.state = {"ordered": [], "read_all": 0}
        wishes = (
            f"A copy of the paper that tells of {THINGS[-1]}, please.",
            f"Now a copy of the {self.papers[titled]['title']}.",
            f"And a copy of the latest that {writer} wrote.",
        )
        for count, wish in enumerate(wishes, 1):
            self.ask(wish, until=lambda s, n=count: len(s["ordered"]) == n)
        self.never(lambda s: s["ordered"] != self.wanted[: len(s["ordered"])])
        self.never(lambda s: s["read_all"] > 1)

    def lines(self, field, value):
        """Return number and title of the papers that have the words there, as a card shows them."""
        word = value.lower()
        found = [
            f"{number}: {paper['title']}"
            for number, paper in self.papers.items()
            if word and word in paper[field].lower()
        ]
        return "; ".join(found) or "nothing under that word"

    def tool_title_index(self, title: str) -> str:
        """Look a title up.

        title: the whole title, such as "bill no. 3"
        """
        return self.lines("title", title)

    def tool_writer_index(self, writer: str) -> str:
        """Look a writer up.

        writer: first and last name
        """
        return self.lines("writer", writer)

    def tool_place_index(self, place: str) -> str:
        """Look up what is kept under a place.

        place: name of the place
        """
        return self.lines("place", place)

    def tool_read_all_pages(self, words: str) -> str:
        """Have every page read for some words. The readers do this once; a second time they leave.

        words: what a page should speak of, such as goat
        """
        self.state["read_all"] += 1
        return self.lines("tells", words)

    def tool_show_year(self, number: int) -> str:
        """Tell the year of a paper.

        number: its number
        """
        if number not in self.papers:
            raise ToolError(f"there is no paper {number}; the indexes tell the numbers")
        return f"written in {self.papers[number]['year']}"

    def tool_order_copy(self, number: int) -> str:
        """Order a copy; it is made at once and cannot be returned.

        number: the paper's number
        """
        if number not in self.papers:
            raise ToolError(f"there is no paper {number}; the indexes tell the numbers")
        self.state["ordered"].append(number)
        return f"a copy of {self.papers[number]['title']} is made"

    def solution(self):
        """All pages for the first wish, one index for each other, and years to tell the latest."""
        told, titled, latest = self.wanted
        writer = self.papers[latest]["writer"]
        theirs = [n for n in self.papers if self.papers[n]["writer"] == writer]
        return [
            {"name": "read_all_pages", "arguments": {"words": THINGS[-1]}},
            {"name": "order_copy", "arguments": {"number": told}},
            {"name": "title_index", "arguments": {"title": self.papers[titled]["title"]}},
            {"name": "order_copy", "arguments": {"number": titled}},
            {"name": "writer_index", "arguments": {"writer": writer}},
            [{"name": "show_year", "arguments": {"number": number}} for number in theirs],
            {"name": "order_copy", "arguments": {"number": latest}},
        ]
