import random

from spade.core.envs import ToolUseBaseEnv


class ArchiveEnv(ToolUseBaseEnv):
    """Find the shelf of a film; schemas, calls and answers go through its own methods."""

    def __init__(self, max_turns=8, **kwargs):
        self.calls = 0
        super().__init__(max_turns=max_turns, **kwargs)

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.calls = 0
        titles = [f"{a} {b}" for a in ("Red", "Lost", "Late") for b in ("Kite", "Door", "Sea")]
        shelves = rng.sample(range(10, 100), len(titles))
        self._state = {"shelf": dict(zip(titles, shelves, strict=True))}
        self.title = rng.choice(titles)
        self._expected_answer = self._state["shelf"][self.title]
        return f"On which shelf is '{self.title}'? Reply <answer>shelf NUMBER</answer>", {}

    def get_tools(self):
        properties = {"title": {"type": "string"}, "year": {"oneOf": [{"type": "integer"}, {"type": "null"}]}}
        parameters = {"type": "object", "properties": properties, "required": ["title"]}
        function = {"name": "look_up", "description": "Look up a film.", "parameters": parameters}
        gone = {"name": "borrow", "description": "There is no such method.", "parameters": parameters}
        return [{"type": "function", "function": function}, {"type": "function", "function": gone}]

    def execute_tool(self, name, arguments):
        self.calls += 1
        result = super().execute_tool(name, arguments)
        return {**result, "output": f"({self.calls}) {result['output']}"}

    def _check_answer(self, answer):
        return answer.lower() == f"shelf {self._expected_answer}" and len(self._call_history) > 0

    def _incorrect_answer_feedback(self):
        return "No, look again."

    def tool_look_up(self, title, year=None):
        return {"title": title, "shelf": self._state["shelf"].get(title)}

    def solution(self):
        return (
            f'<tool_call>{{"name": "look_up", "arguments": {{"title": "{self.title}"}}}}</tool_call>'
            f"<answer>shelf {self._expected_answer}</answer>"
        )
