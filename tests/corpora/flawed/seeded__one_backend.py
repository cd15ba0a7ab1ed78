# flaw: the backend is the same for every seed
from envkit import ToolUseEnv


class SeedVaultEnv(ToolUseEnv):
    """Store a bag of seeds in the coldest free vault."""

    def build(self, rng):
        self.state = {"cold": {"V1": -12, "V2": -20, "V3": -18}, "bag": None}
        self.ask("Store the bag in the coldest vault.", until=lambda s: s["bag"] == "V2")
        self.never(lambda s: s["bag"] not in (None, "V2"))

    def tool_read_vault(self, vault: str) -> str:
        """Read the temperature of V1, V2 or V3."""
        return f"{self.state['cold'][vault]} degrees"

    def tool_store(self, vault: str) -> str:
        """Store the bag."""
        self.state["bag"] = vault
        return "stored"

    def solution(self):
        return [{"name": "store", "arguments": {"vault": "V2"}}]


# hint: Read all three.
