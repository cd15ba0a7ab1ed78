"""API orchestration: two trains, a change between them, and holds on seats that soon run out."""

from envkit import ToolError, ToolUseEnv

MIDDLE = ("Ashby", "Brook", "Corby")


class TrainJourneyEnv(ToolUseEnv):
    """Book the earliest journey with one change before the held seats are gone."""

    max_turns = 25

    def build(self, rng):
        """Draw a timetable in which the earliest journey is not the first that comes to mind."""
        self.seats, self.best = rng.randint(2, 4), []
        while not self.best:
            self.trains = {}
            for middle in MIDDLE:
                for ends in ((("Alder", middle), 480, 540), ((middle, "Zell"), 540, 660)):
                    (start, goal), early, late = ends
                    for _ in range(2):
                        leaves = rng.randrange(early, late, 5)
                        self.trains[f"T{rng.randrange(100, 1000)}"] = {
                            "from": start,
                            "to": goal,
                            "leaves": leaves,
                            "arrives": leaves + rng.randrange(35, 95, 5),
                            "free": rng.randint(0, 6),
                        }
            self.best = self.earliest()
        self.state = {"held": {}, "paid": [], "clock": 0}
        self.ask(
            f"{self.seats} of us travel from Alder to Zell, with one change in "
            f"{', '.join(MIDDLE[:-1])} or {MIDDLE[-1]} and at least ten minutes for it. Book the "
            "journey that arrives earliest, all seats in each train.",
            until=lambda s: sorted(s["paid"]) == sorted(self.best),
        )
        self.never(lambda s: not set(s["paid"]) <= set(self.best))

    def earliest(self):
        """Return the two trains of the earliest journey with enough seats, if just one is best."""
        found = sorted(
            (two["arrives"], first, second)
            for first, one in self.trains.items()
            for second, two in self.trains.items()
            if one["to"] == two["from"]
            and one["arrives"] + 10 <= two["leaves"]
            and min(one["free"], two["free"]) >= self.seats
        )
        full = [
            two["arrives"]
            for one in self.trains.values()
            for two in self.trains.values()
            if one["to"] == two["from"] and one["arrives"] <= two["leaves"]
        ]
        clear = len(found) > 1 and found[0][0] < found[1][0] and min(full) < found[0][0]
        return list(found[0][1:]) if clear else []

    def tool_timetable(self, start: str, goal: str) -> str:
        """List the trains from one town to the next: number, departure, arrival.

        start: town of departure, for example Alder
        goal: town of arrival
        """
        rows = [
            f"{number} {self.clock(t['leaves'])} to {self.clock(t['arrives'])}"
            for number, t in self.trains.items()
            if (t["from"], t["to"]) == (start, goal)
        ]
        if not rows:
            raise ToolError(f"no train goes straight from {start} to {goal}")
        return "\n".join(rows)

    def tool_free_seats(self, train: str) -> str:
        """Tell how many seats of a train are free.

        train: the train's number
        """
        return f"{self.train(train)['free']} seats are free in {train}"

    def tool_hold(self, train: str, seats: int) -> str:
        """Hold seats in a train. A hold is gone after the next two calls of hold or pay.

        train: the train's number
        seats: how many
        """
        if not 0 < seats <= self.train(train)["free"]:
            raise ToolError(f"{train} has {self.train(train)['free']} seats free")
        self.tick()
        self.state["held"][train] = (seats, self.state["clock"] + 2)
        return f"{seats} seats in {train} are held for the next two holds or payments."

    def tool_pay(self, train: str) -> str:
        """Pay for all seats that are held in a train; this cannot be undone.

        train: the train's number
        """
        self.tick()
        seats, _ = self.state["held"].pop(train, (0, 0))
        if not seats:
            raise ToolError(f"nothing is held in {train}; a hold does not last")
        if seats != self.seats:
            raise ToolError(f"{seats} seats are held, not {self.seats}")
        self.state["paid"].append(train)
        return f"{seats} seats in {train} are yours."

    def tick(self):
        """Let holds grow old."""
        self.state["clock"] += 1
        held = self.state["held"]
        self.state["held"] = {t: h for t, h in held.items() if h[1] >= self.state["clock"]}

    def train(self, number):
        """Return a train, or answer that there is none."""
        if number not in self.trains:
            raise ToolError(f"there is no train {number}; see timetable")
        return self.trains[number]

    def clock(self, minutes):
        """Write minutes after midnight as a time of day."""
        return f"{minutes // 60}:{minutes % 60:02}"

    def solution(self):
        """Read all timetables, see which trains have seats, hold both, and pay for both."""
        legs = [leg for middle in MIDDLE for leg in (("Alder", middle), (middle, "Zell"))]
        one, two = self.best
        return [
            [{"name": "timetable", "arguments": {"start": a, "goal": b}} for a, b in legs],
            [{"name": "free_seats", "arguments": {"train": train}} for train in self.trains],
            {"name": "hold", "arguments": {"train": one, "seats": self.seats}},
            {"name": "hold", "arguments": {"train": two, "seats": self.seats}},
            {"name": "pay", "arguments": {"train": one}},
            {"name": "pay", "arguments": {"train": two}},
        ]
