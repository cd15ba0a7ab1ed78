"""API orchestration: several calendars, one shared room, and tools that look alike."""

from envkit import ToolUseEnv

PEOPLE = ("Ada", "Bo", "Cleo", "Dan", "Eve")
ROOMS = {"Willow": 4, "Maple": 8, "Cedar": 12}
HOURS = range(9, 17)


class MeetingPlannerEnv(ToolUseEnv):
    """Find an hour that suits everybody, book a room and invite the guests."""

    def build(self, rng):
        """Fill calendars and rooms so that exactly one hour suits the three people asked for."""
        self.guests = sorted(rng.sample(PEOPLE, 3))
        self.hour = rng.choice(HOURS)
        busy = {
            person: sorted(rng.sample([h for h in HOURS if h != self.hour], 4)) for person in PEOPLE
        }
        for hour in HOURS:
            if hour != self.hour and not any(hour in busy[guest] for guest in self.guests):
                busy[rng.choice(self.guests)].append(hour)
        self.heads = rng.choice([5, 6, 7, 8])
        taken = {room: rng.sample([h for h in HOURS if h != self.hour], 3) for room in ROOMS}
        self.room = rng.choice(["Maple", "Cedar"])
        other = "Cedar" if self.room == "Maple" else "Maple"
        taken[other].append(self.hour)
        self.state = {
            "busy": {person: sorted(hours) for person, hours in busy.items()},
            "taken": {room: sorted(hours) for room, hours in taken.items()},
            "bookings": {},
            "invited": [],
        }
        names = ", ".join(self.guests)
        self.ask(
            f"Please book a room for {self.heads} people at an hour when {names} are all free.",
            until=lambda s: s["bookings"] == {self.room: self.hour},
        )
        self.ask(
            f"Good. Now invite {names}, and nobody else.",
            until=lambda s: sorted(s["invited"]) == self.guests,
        )
        self.never(lambda s: not set(s["invited"]) <= set(self.guests))

    def tool_list_rooms(self) -> str:
        """List rooms with their number of seats."""
        return "; ".join(f"{room}: {seats} seats" for room, seats in ROOMS.items())

    def tool_person_calendar(self, person: str) -> str:
        """List the hours at which a person is busy; working hours begin from 9 to 16.

        person: first name
        """
        if person not in PEOPLE:
            return f"Error: nobody is called {person}; people are {', '.join(PEOPLE)}."
        return f"{person} is busy at " + ", ".join(map(str, self.state["busy"][person]))

    def tool_room_calendar(self, room: str) -> str:
        """List the hours at which a room is taken.

        room: the room's name
        """
        if room not in ROOMS:
            return f"Error: no room is called {room}; see list_rooms."
        return f"{room} is taken at " + ", ".join(map(str, self.state["taken"][room]))

    def tool_book_room(self, room: str, hour: int) -> str:
        """Book a room for one hour. Whether people are free is not checked.

        room: the room's name
        hour: full hour at which the meeting begins, 9 to 16
        """
        if room not in ROOMS or hour not in HOURS:
            return "Error: no such room or hour; see list_rooms."
        if hour in self.state["taken"][room]:
            return f"Error: {room} is taken at {hour}; see room_calendar."
        self.state["bookings"][room] = hour
        return f"{room} is booked at {hour}."

    def tool_cancel_room(self, room: str) -> str:
        """Take back a booking of a room.

        room: the room's name
        """
        if self.state["bookings"].pop(room, None) is None:
            return f"Error: you have not booked {room}."
        return f"{room} is no longer booked."

    def tool_invite(self, person: str) -> str:
        """Send the invitation to one person; it cannot be taken back.

        person: first name
        """
        if person not in PEOPLE:
            return f"Error: nobody is called {person}; people are {', '.join(PEOPLE)}."
        if not self.state["bookings"]:
            return "Error: book a room first."
        if person not in self.state["invited"]:
            self.state["invited"].append(person)
        return f"{person} is invited."

    def tool_remind(self, person: str) -> str:
        """Remind somebody of meetings they were invited to before; invites nobody.

        person: first name
        """
        return f"{person} has been reminded of earlier meetings."

    def solution(self):
        """Read every calendar that matters, then book and invite."""
        read = [{"name": "person_calendar", "arguments": {"person": p}} for p in self.guests]
        rooms = [{"name": "room_calendar", "arguments": {"room": r}} for r in ("Maple", "Cedar")]
        return [
            *read,
            {"name": "list_rooms", "arguments": {}},
            *rooms,
            {"name": "book_room", "arguments": {"room": self.room, "hour": self.hour}},
            *({"name": "invite", "arguments": {"person": p}} for p in self.guests),
        ]
