"""Certificates of programs in the reference project's contract, sound and flawed."""

import asyncio
from pathlib import Path

import pytest

from envgen.certificate import Certificate, certify
from sandbox import Sandbox, SandboxConfig

PROGRAMS = Path(__file__).parents[1] / "sandbox" / "reference"
LIMITS = SandboxConfig(load_s=5.0, reset_s=5.0, step_s=5.0)
ACCEPTED = {
    "freezer": "pass",  # its solution() is prose
    "thermostat": "pass",
    "tickets": "unknown",  # there is none
    "flaw_done_is_enough": "unknown",  # the adapter has taken its flaw away
}
REFUSED = {
    "flaw_any_answer": "nontrivial",
    "flaw_free_step": "contract",
    "flaw_nan": "contract",
    "flaw_reset_raises": "contract",
    "flaw_tells": "sealed",
}


@pytest.fixture(scope="module")
def made() -> dict[str, Certificate]:
    """Certify all of them once, a few at a time."""

    async def batch() -> dict[str, Certificate]:
        places = asyncio.Semaphore(3)
        async with Sandbox(LIMITS) as sandbox:

            async def one(name: str) -> Certificate:
                async with places:
                    source = (PROGRAMS / f"{name}.py").read_text()
                    return await certify(source, "Look before you act.", sandbox)

            names = [*ACCEPTED, *REFUSED]
            return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))

    return asyncio.run(batch())


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_sound_program_is_accepted(made: dict[str, Certificate], name: str) -> None:
    certificate = made[name]
    assert certificate.accepted, certificate.failed
    assert certificate.setting == "tool_use" and certificate.tools
    verdicts = {check.name: check.verdict for check in certificate.checks}
    assert verdicts.pop("solvable") == ACCEPTED[name]
    assert set(verdicts.values()) == {"pass"}


@pytest.mark.parametrize("name", REFUSED)
def test_a_known_flaw_is_refused_where_it_shows(made: dict[str, Certificate], name: str) -> None:
    assert made[name].failed is not None
    assert made[name].failed.name == REFUSED[name]
