"""Data retrieval: read a few buoys and report the one that the harbour master asks for."""

from envkit import ToolUseEnv

NAMES = ("Anchor", "Beacon", "Coral", "Drift", "Ebb", "Fathom", "Gull")


class BuoyWatchEnv(ToolUseEnv):
    """Read the sea's buoys and report what the harbour master wants to know."""

    def build(self, rng):
        """Give every buoy waves and water of its own; no two are equal."""
        waves = rng.sample(range(4, 60), len(NAMES))
        water = rng.sample(range(60, 190), len(NAMES))
        self.state = {
            "buoys": {
                name: {"waves": wave / 10, "water": degrees / 10}
                for name, wave, degrees in zip(NAMES, waves, water, strict=True)
            },
            "reports": [],
        }
        buoys = self.state["buoys"]
        self.rough = max(NAMES, key=lambda name: buoys[name]["waves"])
        self.cold = min(NAMES, key=lambda name: buoys[name]["water"])
        self.ask(
            "Which buoy has the highest waves? Report its name and their height.",
            until=lambda s: (self.rough, buoys[self.rough]["waves"]) in s["reports"],
        )
        self.ask(
            "And where is the water coldest? Report that buoy with its temperature.",
            until=lambda s: (self.cold, buoys[self.cold]["water"]) in s["reports"],
        )
        # Ships act on a report at once: two are asked for, and a third would be a guess.
        self.never(lambda s: len(s["reports"]) > 2)

    def tool_list_buoys(self) -> str:
        """List the names of all buoys."""
        return ", ".join(NAMES)

    def tool_read_buoy(self, name: str) -> str:
        """Read one buoy: height of the waves in metres, water temperature in degrees.

        name: the buoy's name
        """
        buoy = self.state["buoys"].get(name.strip().title())
        if buoy is None:
            return f"Error: there is no buoy {name}; see list_buoys."
        return f"waves {buoy['waves']} m, water {buoy['water']} degrees"

    def tool_report(self, name: str, value: float) -> str:
        """Send a report to all ships. Only two reports can be sent.

        name: the buoy's name
        value: what was measured there, as the buoy gives it
        """
        if name.strip().title() not in NAMES:
            return f"Error: there is no buoy {name}; see list_buoys."
        self.state["reports"].append((name.strip().title(), value))
        return f"Reported: {name.strip().title()}, {value}."

    def solution(self):
        """Read every buoy once, then send both reports."""
        buoys = self.state["buoys"]
        return [
            {"name": "list_buoys", "arguments": {}},
            *({"name": "read_buoy", "arguments": {"name": name}} for name in NAMES),
            *(
                {"name": "report", "arguments": {"name": name, "value": buoys[name][what]}}
                for name, what in ((self.rough, "waves"), (self.cold, "water"))
            ),
        ]
