import random


class CourierEnv(ToolUseBaseEnv):
    """Send the busiest courier home; names differ by seed, imports were forgotten."""

    def reset(self, seed=None) -> Tuple[str, dict]:
        rng = random.Random(seed)
        names = rng.sample(["Ana", "Bo", "Cy", "Di", "Ed", "Flo"], 4)
        rounds = list(itertools.chain.from_iterable([n] * k for n, k in zip(names, rng.sample(range(2, 9), 4))))
        rng.shuffle(rounds)
        self._state = {"rounds": rounds, "home": None, "counted": 0}
        self.busiest = Counter(rounds).most_common(1)[0][0]
        name = {"type": "string", "enum": names, "description": "one of " + ", ".join(names)}
        self._tools = {
            "rounds": {
                "description": "Read rounds of today, six a page",
                "parameters": {
                    "type": "object",
                    "properties": {"page": {"type": ["integer", "null"], "default": 1}},
                },
            },
            "send_home": {
                "description": "Send a courier home",
                "parameters": {"type": "object", "properties": {"name": name}, "required": ["name"]},
            },
        }
        self._user_messages = ["Send home whoever has ridden most rounds today."]
        self._message_criteria = [lambda s: s["home"] == self.busiest]
        self._current_msg = 0
        return self._user_messages[0], {}

    def _advance_if_done(self):
        if self._current_msg < 1 and self._message_criteria[0](self._state):
            self._current_msg = 1
            return " That was all."
        return ""

    def _check_answer(self, answer):
        return answer == "done" and self._current_msg == 1

    def tool_rounds(self, page=1):
        page = page or 1
        self._state["counted"] += 1
        return ", ".join(self._state["rounds"][6 * page - 6 : 6 * page]) + self._advance_if_done()

    def tool_send_home(self, name):
        if self._state["home"]:
            return "Error: somebody has gone home already"
        self._state["home"] = name
        return name + " has gone home." + self._advance_if_done()

    def solution(self):
        return [
            {"name": "rounds", "arguments": {"page": 1}},
            {"name": "send_home", "arguments": {"name": self.busiest}},
        ]
