"""Multi-step workflows: a library whose lists come page by page and whose rules bite in order."""

from envkit import ToolUseEnv

TITLES = (
    "The Bee Keeper", "A Hive in Winter", "Locks and Weirs", "The Slow Canal", "Orbits",
    "Seed and Soil", "The Glass Lens", "Night Trains", "Salt", "A Field of Clover",
)  # fmt: skip
READERS = ("Mara", "Joel", "Priya", "Tomas")
PAGE = 4


class LibraryDeskEnv(ToolUseEnv):
    """Lend, return and reserve books at a library desk."""

    def build(self, rng):
        """Put books on the shelf and into readers' bags; the wanted book is with somebody else."""
        titles = rng.sample(TITLES, len(TITLES))
        readers = rng.sample(READERS, len(READERS))
        self.state = {
            "books": {
                f"B{number}": {"title": title, "with": "shelf"}
                for number, title in zip(rng.sample(range(10, 100), 10), titles, strict=True)
            },
            "fees": dict.fromkeys(readers, 0),
            "reserved": {},
        }
        self.codes = list(self.state["books"])
        self.reader, other = readers[0], readers[1]
        self.back, self.wanted, self.held = rng.sample(self.codes, 3)
        self.fee = rng.randint(2, 9)
        books = self.state["books"]
        books[self.back]["with"] = self.reader
        books[self.held]["with"] = other
        self.state["fees"][self.reader] = self.fee
        self.ask(
            f"{self.reader} brings back {books[self.back]['title']} and wants to borrow "
            f"{books[self.wanted]['title']}.",
            until=lambda s: (
                s["books"][self.back]["with"] == "shelf"
                and s["books"][self.wanted]["with"] == self.reader
            ),
        )
        self.ask(
            f"{self.reader} would also like {books[self.held]['title']}; reserve it if it is out.",
            until=lambda s: s["reserved"].get(self.held) == self.reader,
        )
        # That book is still in another reader's bag: nobody may book it as returned.
        self.never(lambda s: s["books"][self.held]["with"] != other)

    def tool_list_books(self, page: int = 1) -> str:
        """List the catalogue, four books a page: code, title and where the book is.

        page: which page, from 1
        """
        pages = -(-len(self.codes) // PAGE)
        if not 1 <= page <= pages:
            return f"Error: pages go from 1 to {pages}."
        rows = [
            f"{code} {self.state['books'][code]['title']} ({self.state['books'][code]['with']})"
            for code in self.codes[(page - 1) * PAGE : page * PAGE]
        ]
        return "\n".join([*rows, f"page {page} of {pages}"])

    def tool_read_account(self, reader: str) -> str:
        """Say what a reader owes.

        reader: the reader's name
        """
        if reader not in self.state["fees"]:
            return f"Error: no reader is called {reader}."
        return f"{reader} owes {self.state['fees'][reader]} coins."

    def tool_take_payment(self, reader: str, coins: int) -> str:
        """Book a reader's payment of fees.

        reader: the reader's name
        coins: how many coins are paid; no more than is owed
        """
        if reader not in self.state["fees"]:
            return f"Error: no reader is called {reader}."
        if not 0 < coins <= self.state["fees"][reader]:
            return f"Error: {reader} owes {self.state['fees'][reader]} coins."
        self.state["fees"][reader] -= coins
        return f"{reader} owes {self.state['fees'][reader]} coins."

    def tool_take_back(self, code: str) -> str:
        """Put a returned book on the shelf.

        code: the book's code, for example B12
        """
        if code not in self.state["books"]:
            return f"Error: no book has the code {code}; see list_books."
        self.state["books"][code]["with"] = "shelf"
        return f"{code} is on the shelf."

    def tool_lend(self, code: str, reader: str) -> str:
        """Lend a book; the reader must owe nothing and have no other book out.

        code: the book's code
        reader: the reader's name
        """
        if code not in self.state["books"] or reader not in self.state["fees"]:
            return "Error: no such book or reader; see list_books and read_account."
        if self.state["books"][code]["with"] != "shelf":
            return f"Error: {code} is out; reserve it instead."
        if self.state["fees"][reader]:
            return f"Error: {reader} still owes {self.state['fees'][reader]} coins."
        if any(book["with"] == reader for book in self.state["books"].values()):
            return f"Error: {reader} still has a book out; take it back first."
        self.state["books"][code]["with"] = reader
        return f"{code} is lent to {reader}."

    def tool_reserve(self, code: str, reader: str) -> str:
        """Reserve a book that is out.

        code: the book's code
        reader: the reader's name
        """
        if code not in self.state["books"] or reader not in self.state["fees"]:
            return "Error: no such book or reader; see list_books and read_account."
        if self.state["books"][code]["with"] == "shelf":
            return f"Error: {code} is on the shelf; lend it instead."
        self.state["reserved"][code] = reader
        return f"{code} is reserved for {reader}."

    def solution(self):
        """Read the whole catalogue, then return, pay, lend and reserve in the order that works."""
        pages = [{"name": "list_books", "arguments": {"page": page}} for page in (1, 2, 3)]
        return [
            *pages,
            {"name": "take_back", "arguments": {"code": self.back}},
            {"name": "take_payment", "arguments": {"reader": self.reader, "coins": self.fee}},
            {"name": "lend", "arguments": {"code": self.wanted, "reader": self.reader}},
            {"name": "reserve", "arguments": {"code": self.held, "reader": self.reader}},
        ]
