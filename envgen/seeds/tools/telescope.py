"""Error recovery: a telescope whose pass runs out, whose mount is slow, and clouds that pass."""

from envkit import ToolError, ToolUseEnv

STARS = ("Vega", "Mira", "Altair", "Deneb", "Rigel", "Spica")


class TelescopeNightEnv(ToolUseEnv):
    """Photograph two stars with a telescope that keeps saying no."""

    max_turns = 25

    def build(self, rng):
        """Draw two stars, how long to expose, and when clouds come."""
        self.stars = rng.sample(STARS, 2)
        self.seconds = [rng.randint(5, 60) * 10 for _ in self.stars]
        self.places = {star: rng.randint(0, 359) for star in STARS}
        self.state = {
            "pass": "",
            "uses": 0,
            "at": 0,
            "moving": 0,
            "clouds": rng.randint(1, 3),
            "plates": [],
        }
        self.words = [f"{rng.randrange(16**4):04x}" for _ in range(30)]
        for star, seconds, count in zip(self.stars, self.seconds, (1, 2), strict=True):
            self.ask(
                f"Take a plate of {star}, {seconds} seconds.",
                until=lambda s, n=count: len(s["plates"]) == n,
            )
        wanted = [
            f"{star} {seconds}" for star, seconds in zip(self.stars, self.seconds, strict=True)
        ]
        # Glass plates are dear: a wrong one fails the night.
        self.never(lambda s: s["plates"] != wanted[: len(s["plates"])])

    def tool_log_in(self) -> str:
        """Get a pass word for the other tools; it is good for four uses."""
        self.state["pass"] = self.words.pop()
        self.state["uses"] = 4
        return f"pass word {self.state['pass']}"

    def tool_look_up(self, star: str) -> str:
        """Tell at which angle a star stands tonight.

        star: name of the star
        """
        if star not in STARS:
            raise ToolError(f"no star is called {star}; the list has {', '.join(STARS)}")
        return f"{star} stands at {self.places[star]} degrees"

    def tool_turn(self, word: str, degrees: int) -> str:
        """Begin to turn the telescope; it needs a while to come to rest.

        word: a pass word that is still good
        degrees: 0 to 359
        """
        self.spend(word)
        if not 0 <= degrees <= 359:
            raise ToolError("degrees go from 0 to 359")
        self.state["at"], self.state["moving"] = degrees, 2
        return f"turning to {degrees}; it will take two waits"

    def tool_wait(self) -> str:
        """Let a minute pass; the mount comes to rest and clouds drift on."""
        self.state["moving"] = max(0, self.state["moving"] - 1)
        self.state["clouds"] = max(0, self.state["clouds"] - 1)
        return "a minute has passed"

    def tool_expose(self, word: str, seconds: int) -> str:
        """Take a plate of whatever the telescope points at.

        word: a pass word that is still good
        seconds: how long
        """
        self.spend(word)
        if self.state["moving"]:
            raise ToolError("the mount is still moving; wait")
        if self.state["clouds"]:
            raise ToolError("clouds are in front; they will pass")
        star = next((s for s in STARS if self.places[s] == self.state["at"]), "nothing")
        self.state["plates"].append(f"{star} {seconds}")
        return f"a plate of {star}, {seconds} seconds"

    def spend(self, word):
        """Use a pass word once, or answer that it is no longer good."""
        if not word or word != self.state["pass"]:
            raise ToolError("this pass word is not good; log in")
        if self.state["uses"] == 0:
            raise ToolError("this pass word is used up; log in again")
        self.state["uses"] -= 1

    def solution(self):
        """Log in for each star, turn, wait until all is still and clear, and expose."""
        calls, words, clouds = [], list(self.words), self.state["clouds"]
        for star, seconds in zip(self.stars, self.seconds, strict=True):
            word = words.pop()
            waits = max(2, clouds)
            clouds = 0
            calls += [
                {"name": "log_in", "arguments": {}},
                {"name": "look_up", "arguments": {"star": star}},
                {"name": "turn", "arguments": {"word": word, "degrees": self.places[star]}},
                *({"name": "wait", "arguments": {}} for _ in range(waits)),
                {"name": "expose", "arguments": {"word": word, "seconds": seconds}},
            ]
        return calls
