"""The certificate on the seed library and on two corpora of named cases, all in one batch."""

import asyncio
from pathlib import Path

import pytest

from envgen.certificate import CHECKS, Certificate, certify
from envgen.seeds import load
from envgen.sourcefile import hint_of
from sandbox import Sandbox, SandboxConfig

CORPORA = Path(__file__).parents[1] / "corpora"
AT_ONCE = 6
LIMITS = SandboxConfig(load_s=2.0, reset_s=1.5, step_s=1.0)

Case = tuple[str, str, str | None]  # name, source, hint
Found = dict[str, Certificate]


def corpus(kind: str) -> list[Case]:
    files = sorted(path for path in (CORPORA / kind).iterdir() if path.is_file())
    return [(f"{kind}/{path.name}", path.read_text(), hint_of(path.read_text())) for path in files]


@pytest.fixture(scope="session")
def found() -> Found:
    """Certify everything once, a few at a time; the tests below only look at what came out."""

    async def batch() -> Found:
        places = asyncio.Semaphore(AT_ONCE)
        seeds = [(f"seeds/{seed.name}", seed.source, seed.hint) for seed in load()]
        async with Sandbox(LIMITS) as sandbox:

            async def one(name: str, source: str, hint: str | None) -> tuple[str, Certificate]:
                async with places:
                    return name, await certify(source, hint, sandbox)

            cases = [*corpus("flawed"), *corpus("sound"), *seeds]
            return dict(await asyncio.gather(*(one(*case) for case in cases)))

    return asyncio.run(batch())


def part(found: Found, kind: str) -> Found:
    return {name: made for name, made in found.items() if name.startswith(f"{kind}/")}


def refused(found: Found) -> dict[str, str]:
    return {
        name: f"{made.failed.name}: {made.failed.message}"
        for name, made in found.items()
        if made.failed
    }


def test_every_seed_is_certified_with_all_checks(found: Found) -> None:
    seeds = part(found, "seeds")
    assert len(seeds) >= 40
    assert refused(seeds) == {}
    for made in seeds.values():
        assert [check.name for check in made.checks] == list(CHECKS)
        assert {check.verdict for check in made.checks} == {"pass"}
        assert len(made.turns) == len(made.seeds) == 8
    assert len({made.fingerprint for made in seeds.values()}) == len(seeds)


def test_sound_environments_are_accepted(found: Found) -> None:
    sound = part(found, "sound")
    assert len(sound) >= 60
    assert refused(sound) == {}
    for name, made in sound.items():
        solvable = made.check("solvable")
        assert solvable is not None
        assert (solvable.verdict == "unknown") == (name == "sound/no_solution.py")


def test_flawed_environments_fail_at_the_check_that_their_flaw_breaks(found: Found) -> None:
    flawed = part(found, "flawed")
    assert len(flawed) >= 60
    expected = {name: name.removeprefix("flawed/").partition("__")[0] for name in flawed}
    assert {name: made.failed and made.failed.name for name, made in flawed.items()} == expected
    assert all(made.checks[-1] is made.failed for made in flawed.values())
    assert all(made.fingerprint == "" for made in flawed.values())


def test_every_case_names_its_flaw_or_why_it_is_sound() -> None:
    for kind, word in (("flawed", "# flaw: "), ("sound", "# sound: ")):
        for name, source, _ in corpus(kind):
            assert source.startswith(word), name


def test_steps_are_timed_and_memory_is_weighed(found: Found) -> None:
    for made in part(found, "seeds").values():
        bounded = made.check("bounded")
        assert bounded is not None
        evidence = bounded.evidence
        assert 0 < evidence["median_step_s"] <= evidence["slowest_step_s"]
        assert evidence["steps"] > 20
        assert 4 << 20 < evidence["peak_memory_bytes"] < 64 << 20
