"""Multi-step workflows: an office where each paper needs other papers first."""

from envkit import ToolUseEnv

PAPERS = (
    "residence slip", "birth record", "tax number", "health card", "fire notice", "site plan",
    "neighbour letter", "trade entry",
)  # fmt: skip


class PermitOfficeEnv(ToolUseEnv):
    """Get a stall licence from an office where every paper needs others first."""

    max_turns = 25

    def build(self, rng):
        """Draw which papers each paper needs, and what each costs."""
        order = rng.sample(PAPERS, len(PAPERS))
        self.needs = {
            paper: sorted(rng.sample(order[:place], min(place, rng.randint(1, 2))))
            for place, paper in enumerate(order)
        }
        self.needs["stall licence"] = sorted(rng.sample(order[4:], 2))
        self.fees = {paper: rng.randint(2, 9) for paper in self.needs}
        self.wanted = self.all_needed("stall licence")
        # The purse holds what the needed papers cost and not a coin more.
        self.state = {"held": [], "coins": sum(self.fees[paper] for paper in self.wanted)}
        self.ask(
            "I need a stall licence, please. My purse is with you; it is just enough if you "
            "request nothing that is not needed.",
            until=lambda s: "stall licence" in s["held"],
        )
        self.never(lambda s: not set(s["held"]) <= set(self.wanted))

    def tool_read_rules(self, paper: str) -> str:
        """Read which papers must be held before a paper can be requested, and its fee.

        paper: name of the paper, for example stall licence
        """
        if paper not in self.needs:
            return f"Error: no paper is called {paper}; there are: {', '.join(sorted(self.needs))}."
        needs = ", ".join(self.needs[paper]) or "nothing"
        return f"{paper}: needs {needs}; fee {self.fees[paper]} coins."

    def tool_request(self, paper: str) -> str:
        """Request a paper and pay its fee; fees are not paid back.

        paper: name of the paper
        """
        if paper not in self.needs:
            return f"Error: no paper is called {paper}; there are: {', '.join(sorted(self.needs))}."
        if paper in self.state["held"]:
            return f"Error: you hold the {paper} already."
        missing = [need for need in self.needs[paper] if need not in self.state["held"]]
        if missing:
            return f"Error: {' and '.join(missing)} must be held first."
        if self.fees[paper] > self.state["coins"]:
            return f"Error: the fee is {self.fees[paper]} coins; that is more than is left."
        self.state["coins"] -= self.fees[paper]
        self.state["held"].append(paper)
        return f"Here is the {paper}. {self.state['coins']} coins are left."

    def tool_look_in_folder(self) -> str:
        """List the papers that are held and the coins that are left."""
        held = ", ".join(self.state["held"]) or "no papers"
        return f"{held}; {self.state['coins']} coins"

    def all_needed(self, paper):
        """Return a paper and everything it needs, each after what it needs itself."""
        found = []
        for need in self.needs[paper]:
            found += [other for other in self.all_needed(need) if other not in found]
        return [*found, paper]

    def solution(self):
        """Read the rules from the licence downwards, then request from the bottom up."""
        read = [{"name": "read_rules", "arguments": {"paper": p}} for p in reversed(self.wanted)]
        return read + [{"name": "request", "arguments": {"paper": paper}} for paper in self.wanted]
