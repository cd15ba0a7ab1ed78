# sound: optional, list and object arguments
from typing import Any, Literal, Optional

from envkit import ToolUseEnv


class PrintShopEnv(ToolUseEnv):
    """Send a print job with the right options."""

    def build(self, rng):
        self.pages = sorted(rng.sample(range(1, 60), 4))
        self.side, self.copies = rng.choice(["single", "double"]), rng.randint(2, 30)
        self.name = rng.choice(["Ines", "Otto", "Wim"])
        self.state = {"jobs": []}
        listed = ", ".join(map(str, self.pages))
        self.ask(
            f"Print pages {listed}, {self.side} sided, {self.copies} copies, with owner "
            f"{self.name} in the options. No note.",
            until=lambda s: (
                s["jobs"] == [(self.pages, self.side, self.copies, {"owner": self.name}, None)]
            ),
        )

    def tool_print(
        self,
        pages: list[int],
        side: Literal["single", "double"] = "single",
        copies: int = 1,
        options: Optional[dict[str, Any]] = None,  # noqa: UP045 - the older form counts too
        note: str | None = None,
    ) -> dict:
        """Print some pages; a job cannot be changed."""
        self.state["jobs"].append((pages, side, copies, options or {}, note))
        return {"job": len(self.state["jobs"])}

    def solution(self):
        options = {"owner": self.name}
        arguments = {
            "pages": self.pages,
            "side": self.side,
            "copies": self.copies,
            "options": options,
        }
        return [{"name": "print", "arguments": arguments}]


# hint: Everything goes into one call.
