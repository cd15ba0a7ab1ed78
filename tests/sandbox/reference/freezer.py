import random
from typing import Tuple


class LabFreezerEnv(ToolUseBaseEnv):
    """Move samples between the drawers of a freezer."""

    def reset(self, seed=None) -> Tuple[str, dict]:
        self.turn_count = 0
        self._call_history = []
        if seed is not None:
            random.seed(seed)
        self.sample = f"S{random.randint(100, 999)}"
        drawers = ["A", "B", "C", "D"]
        home, target = random.sample(drawers, 2)
        self._state = {"where": {self.sample: home}, "target": target, "found": None, "log": []}
        self._tools = {
            "find": {"description": "Find a sample", "parameters": {"type": "object", "properties": {"sample": {"type": "string"}}, "required": ["sample"]}},
            "move": {"description": "Move a sample", "parameters": {"type": "object", "properties": {"sample": {"type": "string"}, "drawer": {"type": "string", "enum": drawers}}, "required": ["sample", "drawer"]}},
            "note": {"description": "Write into the log", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
        }
        self._user_messages = [
            f"In which drawer is {self.sample}?",
            f"Put it into drawer {target}.",
            "Write its number into the log, nothing else.",
        ]
        self._message_criteria = [
            lambda s: s["found"] == self.sample,
            lambda s: s["where"][self.sample] == s["target"],
            lambda s: s["log"] == [self.sample],
        ]
        self._current_msg = 0
        self._expected_answer = "done"
        return (self._user_messages[0], {})

    def _advance_if_done(self):
        if self._current_msg >= len(self._user_messages):
            return ""
        if self._message_criteria[self._current_msg](self._state):
            self._current_msg += 1
            if self._current_msg >= len(self._user_messages):
                return "\n[all done] Submit <answer>done</answer>."
            return f"\n[next] {self._user_messages[self._current_msg]}"
        return ""

    def _check_answer(self, answer):
        return answer.strip().lower() == "done" and self._current_msg >= len(self._user_messages)

    def tool_find(self, sample=""):
        self._state["found"] = sample if sample in self._state["where"] else None
        return self._state["where"].get(sample, "Error: unknown") + self._advance_if_done()

    def tool_move(self, sample="", drawer=""):
        if sample not in self._state["where"]:
            return "Error: unknown" + self._advance_if_done()
        self._state["where"][sample] = drawer
        return f"{sample} is in {drawer}" + self._advance_if_done()

    def tool_note(self, text=""):
        self._state["log"].append(text)
        return "noted" + self._advance_if_done()

    def solution(self):
        return (f"1. find(sample='{self.sample}') 2. move(sample='{self.sample}', drawer='{self._state['target']}') "
                f"3. note(text='{self.sample}') 4. <answer>done</answer>")
