"""The measuring sections of a recipe: held-out set, ablation, size of the memory's measurement."""

from dataclasses import dataclass


@dataclass(frozen=True)
class HeldoutConfig:
    """``[heldout]``: the fixed set of environments and how each is played.

    ``path``: ``embedded`` (the set that ships with the project) or a JSONL file, one environment a
    line (``bench.heldout.dataset`` says which keys). ``plays``: unhinted plays per environment at
    the training temperature, each on an instance of its own. ``greedy_plays``: plays per
    environment at temperature 0. ``temperature``, ``max_tokens``, ``max_turns``: left out, they are
    those of ``[solver]``. ``seed``: root of all instances and samples; another seed is another
    measurement. ``max_parallel``: plays in flight.
    """

    path: str = "embedded"
    plays: int = 8
    greedy_plays: int = 4
    temperature: float | None = None
    max_tokens: int | None = None
    max_turns: int | None = None
    seed: int = 0
    max_parallel: int = 128

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("path is empty; write `embedded` or the name of a JSONL file")
        if self.plays < 1 or self.greedy_plays < 1 or self.max_parallel < 1:
            raise ValueError("plays, greedy_plays and max_parallel must be at least 1")
        if self.temperature is not None and self.temperature <= 0:
            raise ValueError("temperature must be above 0; the greedy plays are made besides")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        if self.max_turns is not None and self.max_turns < 1:
            raise ValueError("max_turns must be at least 1")


@dataclass(frozen=True)
class AblationConfig:
    """Section ``[ablation]``: which arms are compared, and for how long.

    ``arms`` by name (``bench.ablation.arms``), each with every seed of ``seeds``. ``rounds``: the
    policy version that every arm ends with. ``pool``: rounds of the starting designer that make the
    fixed pool. ``every``: the held-out set is played with every so many versions, the first and the
    last. ``late``: environments of each arm's and seed's last shards that the other arms are judged on
    too (0: none). ``jobs``: arms at work at once; each takes one to two cores.
    """

    arms: tuple[str, ...] = ("self_play", "fixed_pool", "frozen")
    seeds: tuple[int, ...] = (0, 1, 2)
    rounds: int = 20
    pool: int = 4
    every: int = 5
    late: int = 8
    jobs: int = 1

    def __post_init__(self) -> None:
        for name in ("rounds", "pool", "every", "jobs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.late < 0:
            raise ValueError("late must not be negative")
        if not self.arms or not self.seeds:
            raise ValueError("arms and seeds must not be empty")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("a seed stands twice in seeds")
        if self.pool > self.rounds:
            raise ValueError(f"pool = {self.pool} is more than rounds = {self.rounds}")


@dataclass(frozen=True)
class MemoryBenchConfig:
    """Section ``[bench_memory]``: how large the measurement of the memory is.

    ``environments`` with 4 KB sources are published and searched; ``vectors``: embeddings alone (0:
    left out; 1,000,000 take some minutes and 6 GB). ``commits``: small ones, before searching again.
    ``writers`` at once with ``publications`` each; ``kills`` of writers and compaction.
    """

    environments: int = 200_000
    vectors: int = 0
    commits: int = 500
    writers: int = 8
    publications: int = 12
    kills: int = 50

    def __post_init__(self) -> None:
        for name in ("environments", "commits", "writers", "publications", "kills"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.vectors < 0:
            raise ValueError("vectors must not be negative")
