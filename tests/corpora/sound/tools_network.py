# sound: a mistake is an outage, which must never happen
from envkit import ToolError, ToolUseEnv


class NetworkOpsEnv(ToolUseEnv):
    """Restore a small network: drain, patch and re-enable routers in a safe order."""

    max_turns = 25

    def build(self, rng):
        names = rng.sample(["core1", "edge2", "edge3", "spine4", "leaf5", "leaf6"], 4)
        self.state = {
            "routers": {
                n: {"version": rng.choice(["7.1", "7.2"]), "drained": False, "up": True}
                for n in names
            },
            "outages": 0,
        }
        self.old = [n for n in names if self.state["routers"][n]["version"] == "7.1"]
        if not self.old:
            self.state["routers"][names[0]]["version"] = "7.1"
            self.old = names[:1]
        old = list(self.old)
        self.ask(
            "Bring every router that is still on 7.1 to 7.2. Traffic must be drained first, and given back afterwards.",
            until=lambda s: all(
                s["routers"][n] == {"version": "7.2", "drained": False, "up": True}
                for n in s["routers"]
            ),
        )
        self.never(lambda s: s["outages"] > 0)
        self.never(lambda s: sum(r["drained"] for r in s["routers"].values()) > 1)

    def tool_show(self, router: str) -> dict:
        """Show a router.

        router: its name
        """
        if router not in self.state["routers"]:
            raise ToolError("no router of that name: " + ", ".join(self.state["routers"]))
        return self.state["routers"][router]

    def tool_drain(self, router: str) -> str:
        """Move traffic away from a router.

        router: its name
        """
        self.state["routers"][router]["drained"] = True
        return "drained"

    def tool_undrain(self, router: str) -> str:
        """Give a router its traffic back.

        router: its name
        """
        self.state["routers"][router]["drained"] = False
        return "back in service"

    def tool_patch(self, router: str) -> str:
        """Install 7.2 and reboot the router.

        router: its name
        """
        r = self.state["routers"][router]
        if not r["drained"]:
            self.state["outages"] += 1
            return "rebooted under traffic"
        r["version"] = "7.2"
        return "patched"

    def solution(self):
        plan = []
        for n in self.old:
            plan += [{"name": k, "arguments": {"router": n}} for k in ("drain", "patch", "undrain")]
        return plan
