# sound: a tool answers with forty thousand characters
from envkit import ToolUseEnv


class ServerLogEnv(ToolUseEnv):
    """Find the failing job in a long log and restart it."""

    def build(self, rng):
        self.jobs = rng.sample(range(10_000, 99_999), 500)
        self.bad = rng.choice(self.jobs)
        self.state = {"restarted": []}
        self.ask(
            "One job failed last night. Restart it.", until=lambda s: s["restarted"] == [self.bad]
        )
        self.never(lambda s: len(s["restarted"]) > 1)

    def tool_read_log(self) -> str:
        """Read last night's log."""
        return "\n".join(
            f"02:{n % 60:02} job {job} left the queue after {n % 17} ms and "
            + ("FAILED on a full disk" if job == self.bad else "ended without any trouble")
            for n, job in enumerate(self.jobs)
        )

    def tool_restart(self, job: int) -> str:
        """Restart a job by its number; only one restart is allowed."""
        self.state["restarted"].append(job)
        return "restarted"

    def solution(self):
        return [
            {"name": "read_log", "arguments": {}},
            {"name": "restart", "arguments": {"job": self.bad}},
        ]


# hint: Look for the line that differs.
