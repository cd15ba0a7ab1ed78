class UnevenEnv(ToolUseBaseEnv):
    """Flaw: two instructions, one criterion."""

    def reset(self, seed=None):
        self._state = {"a": seed}
        self._user_messages = ["Do this.", "Do that."]
        self._message_criteria = [lambda s: s["a"] is None]
        return self._user_messages[0], {}

    def tool_do(self):
        self._state["a"] = None
