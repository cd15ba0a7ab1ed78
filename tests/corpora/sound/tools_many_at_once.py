# sound: the reference makes several calls in one turn
from envkit import ToolUseEnv


class OrchardEnv(ToolUseEnv):
    """Water the trees that are dry, and no other."""

    def build(self, rng):
        self.trees = {f"t{n}": rng.randint(5, 95) for n in range(1, 9)}
        self.dry = [tree for tree, wet in self.trees.items() if wet < 40] or ["t1"]
        self.state = {"watered": []}
        self.ask(
            "Water each tree whose soil is below 40, or t1 if there is none.",
            until=lambda s: sorted(s["watered"]) == sorted(self.dry),
        )
        self.never(lambda s: not set(s["watered"]) <= set(self.dry))

    def tool_measure(self, tree: str) -> int:
        """Measure the soil of one tree, t1 to t8."""
        return self.trees[tree]

    def tool_water(self, tree: str) -> str:
        """Water one tree."""
        if tree not in self.trees:
            return "Error: trees are t1 to t8."
        self.state["watered"].append(tree)
        return "watered"

    def solution(self):
        return [
            [{"name": "measure", "arguments": {"tree": tree}} for tree in self.trees],
            [{"name": "water", "arguments": {"tree": tree}} for tree in self.dry],
        ]


# hint: Measure all trees before you water any.
