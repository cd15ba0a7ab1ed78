"""The certificate as a record: what it holds, how it is read back, what luck does to it."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator

import pytest

from envgen.certificate import Certificate, certify
from sandbox import Sandbox, SandboxConfig, SandboxFault

AT_ONCE = 4
ADDER = """
import random


class AdderEnv:
    \"\"\"Add two numbers.\"\"\"

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.a, self.b = rng.randint(100, 999), rng.randint(100, 999)
        return f"{self.a} plus {self.b}?", {}

    def step(self, action):
        said = action.removeprefix("\\\\boxed{").removesuffix("}")
        won = said == str(self.a + self.b)
        return "done", float(won), True, False, {}

    def solution(self):
        return [str(self.a + self.b)]
"""


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(SandboxConfig(reset_s=1.5, step_s=1.0)) as opened:
        yield opened


async def certify_all(
    sandbox: Sandbox, cases: list[tuple[str, str, str | None]]
) -> dict[str, Certificate]:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, source: str, hint: str | None) -> tuple[str, Certificate]:
        async with places:
            return name, await certify(source, hint, sandbox)

    return dict(await asyncio.gather(*(one(*case) for case in cases)))


async def test_a_certificate_survives_json_and_names_what_it_saw(sandbox: Sandbox) -> None:
    made = await certify(ADDER, "Carry the tens.", sandbox)
    assert made.accepted
    assert Certificate.from_json(made.as_json()) == made
    assert (made.class_name, made.title, made.setting) == ("AdderEnv", "Add two numbers.", "game")
    assert made.turns == (1,) * 8
    assert made.isolation == "nsjail"


async def test_the_fingerprint_ignores_names_and_the_certificate_s_seed(sandbox: Sandbox) -> None:
    renamed = ADDER.replace("self.a", "self.first").replace("AdderEnv", "PlusEnv")
    harder = ADDER.replace("999", "499")
    one, two, other = [
        await certify(source, None, sandbox, seed=seed)
        for source, seed in ((ADDER, 0), (renamed, 5), (harder, 0))
    ]
    assert one.fingerprint == two.fingerprint != other.fingerprint
    assert one.seeds[:3] == two.seeds[:3]
    assert one.seeds != two.seeds


async def test_without_a_hint_the_hint_is_unknown_and_may_be_required(sandbox: Sandbox) -> None:
    free = await certify(ADDER, None, sandbox)
    strict = await certify(ADDER, None, sandbox, required=("hint",))
    assert free.accepted
    assert free.check("hint").verdict == "unknown"  # type: ignore[union-attr]
    assert strict.failed is not None
    assert strict.failed.name == "hint"


async def test_a_missing_sandbox_is_a_fault_of_ours_and_no_verdict() -> None:
    config = dataclasses.replace(SandboxConfig(), python="/nowhere/python3")
    with pytest.raises(SandboxFault):
        async with Sandbox(config) as sandbox:
            await certify(ADDER, None, sandbox)


async def test_a_lucky_win_does_not_refuse_a_sound_environment(sandbox: Sandbox) -> None:
    """Twenty-one doors: a random player wins 1 in 21, so a win in its first eight is likely."""
    doors = ADDER.replace("rng.randint(100, 999), rng.randint(100, 999)", "rng.randint(1, 21), 0")
    words = ", ".join(f"d{number}" for number in range(1, 22))
    doors = doors.replace(
        "{self.a} plus {self.b}?", f"Doors: [{words}]; twice it is {{2 * self.a}}"
    )
    doors = doors.replace("str(self.a + self.b)", 'f"d{self.a}"')
    certificates = await certify_all(
        sandbox, [(str(n), doors + f"\n# variant {n}\n", None) for n in range(3)]
    )
    assert all(made.accepted for made in certificates.values())
