"""Rounds on a real Ray cluster of two nodes on this machine, one CPU each."""

import asyncio
import dataclasses
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from envgen.producer import Round
from envgen.progress import Progress
from envgen.seeds import load as load_seeds
from envgen.workers.ray import ray_workers
from memory import ShardData
from sandbox import EnvironmentFault, Playable, SandboxConfig, SandboxFault
from spadekit.errors import BadInput
from tests.envgen.test_authoring import Author, fenced, workspace

ray = pytest.importorskip("ray", reason="Ray is an extra")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, in whichever of its threads

SEEDS = {seed.name: seed for seed in load_seeds()}
GAMES = [seed for seed in SEEDS.values() if seed.setting == "game"][:4]
CONFIG = SandboxConfig()
ROUND = (
    *("producer.designs=4", "producer.designs_per_brief=2", "producer.parallel_certificates=2"),
    *('designer.skills=["pattern_recognition"]', "probe.plays=4"),
)
NO_JAIL = "def bundled_nsjail():\n    raise FileNotFoundError\n"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster whose head has one CPU; tests add what they need."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        yield made
    finally:
        made.shutdown()


@pytest.fixture
def second(cluster: Any) -> Iterator[Any]:
    """A second node, gone again after the test."""
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    yield node
    if node in cluster.list_all_nodes():
        cluster.remove_node(node)


def script(text: str, asked: int) -> str:
    return fenced(GAMES[asked].source, GAMES[asked].hint)


async def play_a_round(
    home: Path, address: str, tell: Callable[[Progress], None], notes: list[str]
) -> ShardData:
    """Run one round of the scripted author, on the cluster if there is an address."""
    async with workspace(home, Author(script), *ROUND) as work, crew(work, address, notes) as there:
        await Round(there, 1, 0, tell).run()
        return work.store.shard(1)


@asynccontextmanager
async def crew(work: Any, address: str, notes: list[str]) -> AsyncIterator[Any]:
    if not address:
        yield work
        return
    async with ray_workers(address, CONFIG, 2, notes.append) as workers:
        yield dataclasses.replace(work, workers=workers)


def timeless(data: ShardData) -> Any:
    """All rows of a shard, without the times and the memory that its certificates measured."""
    environments = []
    for one in data.environments:
        certificate = json.loads(one.certificate)
        certificate["seconds"] = 0
        certificate["checks"] = [
            check | {"message": "", "evidence": {}} if check["name"] == "bounded" else check
            for check in certificate["checks"]
        ]
        environments.append(dataclasses.replace(one, certificate=json.dumps(certificate)))
    return environments, data.designs, data.plays, data.standings


def switch_off(cluster: Any, node: Any) -> None:
    """End a node with all that runs on it; its workers would outlive a killed raylet by seconds."""
    raylet = node.all_processes["raylet"][0].process.pid
    children = Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()
    for pid in (*map(int, children), raylet):
        os.kill(pid, signal.SIGKILL)
    cluster.remove_node(node, allow_graceful=False)


def silent(_: Progress) -> None:
    pass


@pytest.fixture(scope="module")
def at_home(tmp_path_factory: pytest.TempPathFactory) -> ShardData:
    home = tmp_path_factory.mktemp("local")
    data = asyncio.run(play_a_round(home, "", silent, []))
    assert [one.outcome for one in data.designs] == ["admitted"] * 4
    return data


def test_a_round_on_two_nodes_is_the_round_at_home_to_the_last_bit(
    cluster: Any, second: Any, at_home: ShardData, tmp_path: Path
) -> None:
    notes: list[str] = []
    data = asyncio.run(play_a_round(tmp_path, cluster.address, silent, notes))
    assert notes == ["2 Ray workers on 2 nodes"]
    assert timeless(data) == timeless(at_home)


def test_what_a_killed_node_was_doing_is_done_elsewhere_and_never_scored(
    cluster: Any, second: Any, at_home: ShardData, tmp_path: Path
) -> None:
    notes: list[str] = []

    def kill(now: Progress) -> None:
        # Certificates are on their way then, and every play is still to come.
        if now.step == "certified" and now.certified == 1:
            switch_off(cluster, second)

    data = asyncio.run(play_a_round(tmp_path, cluster.address, kill, notes))
    assert any("is gone; its work is done again by the 1 left" in line for line in notes)
    assert timeless(data) == timeless(at_home)


@pytest.mark.skipif(shutil.which("nsjail") is not None, reason="a system nsjail is found")
def test_a_host_without_nsjail_is_said_in_one_line_and_left_out(
    cluster: Any, tmp_path: Path
) -> None:
    (tmp_path / "nsjail.py").write_text(NO_JAIL)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    bare = cluster.add_node(num_cpus=2, env_vars={"PYTHONPATH": path})
    cluster.wait_for_nodes()
    notes: list[str] = []

    async def main() -> str:
        async with (
            ray_workers(cluster.address, CONFIG, 1, notes.append) as workers,
            workers.lease(GAMES[0].source) as jail,
        ):
            return jail.info.setting

    try:
        assert asyncio.run(main()) == "game"
    finally:
        cluster.remove_node(bare)
    left_out, manned = notes
    assert "left out" in left_out
    assert "nsjail" in left_out
    assert "\n" not in left_out
    assert manned == "1 Ray workers on 1 node"


def test_faults_of_environments_come_back_as_theirs(cluster: Any) -> None:
    hangs = (
        'class AEnv:\n    """T."""\n'
        "    def reset(self, seed=None):\n        while True: pass\n"
        "    def step(self, action):\n        return '', 0.0, True, False, {}\n"
    )
    config = dataclasses.replace(CONFIG, reset_s=0.5)

    async def main() -> None:
        async with ray_workers(cluster.address, config, 1, lambda _: None) as workers:
            with pytest.raises(EnvironmentFault, match="load"):
                async with workers.lease("x = 1\n"):
                    pass
            async with workers.lease(hangs) as jail:
                await _hang(jail)

    async def _hang(jail: Playable) -> None:
        with pytest.raises(EnvironmentFault, match="reset: timeout"):
            await jail.episode(1)

    asyncio.run(main())


def test_no_cluster_is_one_line_that_says_how_to_get_one() -> None:
    async def main() -> None:
        async with ray_workers("127.0.0.1:1", CONFIG, 1, lambda _: None):
            pass

    with pytest.raises(BadInput, match="ray start --head"):
        asyncio.run(main())


def test_a_cluster_without_a_host_that_can_run_jails_is_refused(cluster: Any) -> None:
    config = dataclasses.replace(CONFIG, python="/nowhere/python")

    async def main() -> None:
        async with ray_workers(cluster.address, config, 1, lambda _: None):
            pass

    with pytest.raises(SandboxFault, match="can run environments"):
        asyncio.run(main())
