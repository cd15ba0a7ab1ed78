# sound: an instruction counts on reply; the tools want dates, the user says weekdays
import datetime as dt

from envkit import ToolUseEnv


class CalendarEnv(ToolUseEnv):
    """Keep a calendar; the user speaks in weekdays, the tools in dates."""

    advance = "on_reply"
    max_turns = 15

    def build(self, rng):
        self.today = dt.date(2024, 1, 1) + dt.timedelta(days=rng.randint(0, 300))
        self.state = {"events": {}, "today": self.today.isoformat()}
        ahead = rng.randint(2, 6)
        self.day = self.today + dt.timedelta(days=ahead)
        self.move = self.day + dt.timedelta(days=7)
        self.title = rng.choice(["dentist", "choir", "lunch"])
        title, day, move = self.title, self.day.isoformat(), self.move.isoformat()
        self.ask(
            f"Today is {self.today:%A}, {self.today.isoformat()}. Put '{title}' on the coming {self.day:%A}.",
            until=lambda s: s["events"].get(title) == day,
        )
        self.ask("Ah, no: a week later than that.", until=lambda s: s["events"].get(title) == move)

    def tool_set_event(self, title: str, date: str) -> str:
        """Put an event on a date, or move it there.

        title: short name
        date: as YYYY-MM-DD
        """
        dt.date.fromisoformat(date)
        self.state["events"][title] = date
        return "noted"

    def tool_list_events(self) -> dict:
        """List all events."""
        return self.state["events"]

    def solution(self):
        return [
            {"name": "set_event", "arguments": {"title": self.title, "date": self.day.isoformat()}},
            "It is noted.",
            {
                "name": "set_event",
                "arguments": {"title": self.title, "date": self.move.isoformat()},
            },
            "Moved by a week.",
        ]
