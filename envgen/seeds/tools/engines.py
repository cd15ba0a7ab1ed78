"""Multi-step workflows: renew the part of a running plant that everything else hangs on."""

from envkit import ToolError, ToolUseEnv

MACHINES = ("pump", "boiler", "turbine", "press", "dryer", "cutter")


class PlantRenewalEnv(ToolUseEnv):
    """Renew a machine that others depend on, and leave the plant running as it was."""

    max_turns = 25

    def build(self, rng):
        """Draw which machine feeds which, and which of them are running."""
        order = rng.sample(MACHINES, len(MACHINES))
        self.needs = {
            machine: sorted(rng.sample(order[:place], min(place, rng.randint(1, 2))))
            for place, machine in enumerate(order)
        }
        self.order = order
        self.old = rng.choice([m for m in order if 3 <= len(self.above(m)) <= 5] or order[:1])
        idle = rng.choice([m for m in order if m != self.old and not self.feeds(m)])
        self.running = [m for m in order if m != idle]
        self.state = {"running": list(self.running), "tested": [], "new": []}
        self.touched = [m for m in self.running if m in self.above(self.old)]
        self.ask(
            f"The {self.old} is worn out. Renew it, and test it before anything else starts.",
            until=lambda s: self.old in s["tested"],
        )
        self.ask(
            "Thank you. The plant must run again exactly as it did before.",
            until=lambda s: s["tested"] and sorted(s["running"]) == sorted(self.running),
        )
        # Starting what stood still, or renewing what was sound, is never right.
        self.never(lambda s: idle in s["running"] or not set(s["new"]) <= {self.old})

    def feeds(self, machine):
        """Return the machines that need a machine directly."""
        return [other for other in self.order if machine in self.needs[other]]

    def above(self, machine):
        """Return a machine and all that depend on it, directly or through others."""
        found = {machine}
        for other in self.order:
            if found & set(self.needs[other]):
                found.add(other)
        return found

    def tool_list_machines(self) -> str:
        """List all machines and whether they run."""
        return ", ".join(
            f"{m}: {'runs' if m in self.state['running'] else 'stands'}" for m in MACHINES
        )

    def tool_inspect(self, machine: str) -> str:
        """Tell what a machine needs to run.

        machine: name of the machine
        """
        needs = ", ".join(self.needs[self.known(machine)]) or "nothing"
        return f"the {machine} needs: {needs}"

    def tool_stop(self, machine: str) -> str:
        """Stop a machine; nothing that needs it may be running.

        machine: name of the machine
        """
        users = [m for m in self.feeds(self.known(machine)) if m in self.state["running"]]
        if users:
            raise ToolError(f"{' and '.join(users)} would run dry; stop that first")
        if machine not in self.state["running"]:
            raise ToolError(f"the {machine} stands already")
        self.state["running"].remove(machine)
        return f"The {machine} stands."

    def tool_start(self, machine: str) -> str:
        """Start a machine; everything it needs must be running.

        machine: name of the machine
        """
        short = [m for m in self.needs[self.known(machine)] if m not in self.state["running"]]
        if short:
            raise ToolError(f"{' and '.join(short)} must run first")
        if machine in self.state["running"]:
            raise ToolError(f"the {machine} runs already")
        if machine in self.state["new"] and machine not in self.state["tested"]:
            raise ToolError("a new machine must be tested before it starts")
        self.state["running"].append(machine)
        return f"The {machine} runs."

    def tool_renew(self, machine: str) -> str:
        """Put in a new machine for an old one that stands still.

        machine: name of the machine
        """
        if self.known(machine) in self.state["running"]:
            raise ToolError(f"the {machine} is running; stop it first")
        self.state["new"].append(machine)
        return f"The {machine} is new."

    def tool_test(self, machine: str) -> str:
        """Test a new machine; only possible while it stands still.

        machine: name of the machine
        """
        if self.known(machine) not in self.state["new"] or machine in self.state["running"]:
            raise ToolError("only a new machine that stands still can be tested")
        self.state["tested"].append(machine)
        return f"The {machine} is sound."

    def known(self, machine):
        """Return a machine's name, or answer that there is none."""
        if machine not in self.needs:
            raise ToolError(f"there is no {machine}; see list_machines")
        return machine

    def solution(self):
        """See what depends on what, stop from the top, renew and test, start from the bottom."""

        def each(tool, machines):
            return [{"name": tool, "arguments": {"machine": machine}} for machine in machines]

        return [
            {"name": "list_machines", "arguments": {}},
            each("inspect", MACHINES),
            *each("stop", reversed(self.touched)),
            *each("renew", [self.old]),
            *each("test", [self.old]),
            *each("start", self.touched),
        ]
