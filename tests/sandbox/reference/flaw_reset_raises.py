import random


class AtlasEnv(ToolUseBaseEnv):
    """Flaw: reset() looks for a town that not every seed has."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        towns = {name: rng.randint(1, 9) for name in rng.sample(["Ulm", "Ely", "Oslo"], 2)}
        self._state = {"towns": towns}
        self._tools = {"map": {"description": "See a map", "parameters": {"type": "object", "properties": {}}}}
        self._expected_answer = towns["Ulm"] if seed is not None else 1
        return "How many gates has Ulm? <answer>N</answer>", {}

    def tool_map(self):
        return str(self._state["towns"])
