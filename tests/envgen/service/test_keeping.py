"""The stock, kept by a service that really designs, plays and switches versions."""

import shutil
import time
from pathlib import Path

from memory import Store
from solver.versions import PolicyInfo, Versions
from spadekit.home import training

from .conftest import living


def arrive(home: Path, number: int) -> None:
    """Publish a version with the weights of version 0, as a trainer in another process would."""
    versions = Versions(home / "policy")
    source = versions.path(0)

    def write(folder: Path) -> None:
        for entry in source.iterdir():
            if entry.name != "policy.json":
                shutil.copyfile(entry, folder / entry.name)

    versions.publish(PolicyInfo(number, number - 1, number, None, "", {}, {}), write)


def test_a_new_version_has_the_stock_measured_again_and_what_is_missing_designed(
    copied: Path,
) -> None:
    with Store.open(copied / "store") as store:
        before = [o.environment for o in store.shard(1).standings if o.status == "frontier"]
        known = {one.id for one in store.environments()}
    assert before
    level = len(before) + 1
    arrive(copied, 1)
    with living(copied, f"service.stock={level}", "service.watch_s=0.05") as service:

        def full() -> bool:
            stock = service.get("/stock")
            return bool(stock["policy_version"] == 1 and stock["doing"] in ("full", "barren"))

        service.until(full)
        stock = service.get("/stock")
        jobs = service.get("/jobs", origin="stock", limit=200)["items"][::-1]
        metrics = service.client.get("/metrics").text
    assert (stock["held"] >= level) == (stock["doing"] == "full")
    assert stock["stale"] == 0
    assert {job["state"] for job in jobs} == {"done"}
    assert jobs[0]["kind"] == "measure"
    assert set(jobs[0]["environments"]) == set(before)
    assert f'spadework_stock_environments{{state="held"}} {float(stock["held"])}' in metrics
    with Store.open(copied / "store") as store:
        assert store.verify() == []
        for name in before:
            plays = [one for one in store.plays(name) if one.policy_version == 1]
            (again,) = [one for one in store.standings(name) if one.policy_version == 1]
            assert {one.arm for one in plays} == {"hinted", "unhinted"}
            finished = [one for one in plays if one.episode_return is not None]
            assert again.plays_unhinted + again.plays_hinted == len(finished)
        latest = store.latest_standings()
        held = [o for o in latest.values() if o.status == "frontier" and o.policy_version == 1]
        designed = {one.id for one in store.environments()} - known
    assert len(held) == stock["held"]
    # What the old environments no longer gave was designed, by the new version.
    assert bool(designed) == any(job["kind"] == "generate" for job in jobs)


def test_a_measurement_killed_half_way_ends_with_the_same_plays(copied: Path) -> None:
    with Store.open(copied / "store") as store:
        names = [one.id for one in store.environments()]
    arrive(copied, 1)
    twin = Path(shutil.copytree(copied, copied.with_name("twin")))

    def plays(home: Path) -> dict[str, tuple[object, ...]]:
        with Store.open(home / "store") as store:
            found = [play for name in names for play in store.plays(name)]
        again = [one for one in found if one.policy_version == 1]
        return {one.id: (one.seed, one.arm, one.episode_return, one.ids) for one in again}

    request = {"kind": "measure", "environments": names}
    with living(twin, "service.stock=0") as service:
        assert service.ended(service.post("/jobs", request)["id"])["state"] == "done"
    with living(copied, "service.stock=0") as service:
        job = service.post("/jobs", request)["id"]
        service.until(lambda: list((copied / "runs/main/measurements").glob("*.jsonl")))
        service.until(lambda: (service.get(f"/jobs/{job}")["progress"] or {}).get("plays"))
    # The block's end stopped the service in the middle: the job is still running in the journal.
    assert not plays(copied)
    with living(copied, "service.stock=0") as service:
        assert service.ended(job)["state"] == "done"
    assert plays(copied) == plays(twin)


def test_beside_a_trainer_no_round_is_designed_too_far_ahead_of_it(copied: Path) -> None:
    def shard(number: int) -> bool:
        return (copied / "store" / "shards" / f"{number:06d}").exists()

    def asked(rounds: int) -> str:
        return str(service.post("/jobs", {"kind": "generate", "rounds": rounds})["id"])

    quick = ("service.stock=0", "service.watch_s=0.05", "sync.max_ahead=2")
    with living(copied, *quick) as service:
        with training(copied):
            job = asked(2)
            service.until(lambda: shard(2))
            time.sleep(0.5)
            assert service.get(f"/jobs/{job}")["state"] == "running"
            assert not list((copied / "runs/main/rounds").glob("*.jsonl"))  # shard 3 is not begun
            arrive(copied, 1)
            assert service.ended(job)["state"] == "done"
            job = asked(1)
            service.until(lambda: service.get(f"/jobs/{job}")["state"] == "running")
            service.post(f"/jobs/{job}/cancel")
            assert service.ended(job)["state"] == "cancelled"
            job = asked(1)
        # Nobody trains any more: there is nobody to wait for.
        assert service.ended(job)["state"] == "done"
    with Store.open(copied / "store") as store:
        assert [one.policy_version for one in store.shards()] == [0, 0, 1, 1]
