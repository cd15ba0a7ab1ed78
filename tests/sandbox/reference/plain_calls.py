import json
import random
import re


class SwitchboardEnv:
    """A plain class that reads <tool_call> by itself: a game, played by text."""

    def __init__(self, max_turns=8, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.line = random.Random(seed).randint(2, 99)
        self.turn = 0
        self.plugged = None
        return f"Plug in line {self.line} with <tool_call>, then <answer>done</answer>.", {}

    def step(self, action):
        self.turn += 1
        late = self.turn >= self.max_turns
        call = re.search(r"<tool_call>(.*?)</tool_call>", action, re.S)
        if call:
            try:
                self.plugged = json.loads(call.group(1))["arguments"]["line"]
            except (ValueError, LookupError, TypeError):
                return "cannot read that", -0.1, False, late, {}
            return f"plugged in {self.plugged}", 0.0, False, late, {}
        if "<answer>done</answer>" in action and self.plugged == self.line:
            return "connected", 1.0, True, False, {}
        return "nobody is connected", 0.0, False, late, {}
