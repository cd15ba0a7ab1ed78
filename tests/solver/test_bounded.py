"""Chat templates that never end are refused by a process that outlives them."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from solver import bounded, rendering
from solver.bounded import check_bounded
from solver.chat import Chat
from spadekit.errors import BadInput
from tests.solver.families import FAMILIES, make_tokenizer, template

NESTED = "".join(f"{{% for a{n} in range(99999) %}}" for n in range(4)) + "{% endfor %}" * 4


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (NESTED, "takes more than 1 seconds"),
        ("{% generation %}" + NESTED + "{% endgeneration %}", "takes more than 1 seconds"),
        ("{% set a = 7 ** (9 ** 9) %}", "takes more than 1 seconds"),
        ("{% for a in range(99999) %}{{ messages }}{% endfor %}", "more than 1000000 characters"),
        ("{{ 'a' * 9999999999 }}", "takes more than 1024 MB"),
        (
            "{% set all = namespace(x='a') %}"
            "{% for m in messages %}{% for n in range(4) %}"
            "{% set all.x = all.x ~ all.x %}{% endfor %}{% endfor %}",
            "takes more than (1 seconds|1024 MB)",
        ),
    ],
)
def test_a_template_without_end_is_refused_when_a_model_is_opened(
    source: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 1)
    make_tokenizer("chatml", template("chatml") + source).save_pretrained(tmp_path)
    began = time.monotonic()
    with pytest.raises(BadInput, match=told):
        Chat.open(tmp_path)
    assert time.monotonic() - began < bounded.PATIENCE_S


@pytest.mark.parametrize("family", FAMILIES)
def test_the_probes_are_rendered_to_their_end(family: str) -> None:
    """Otherwise nothing would be found out: a template that fails on the first line ends at once."""
    tokenizer = make_tokenizer(family)
    check_bounded(tokenizer)
    values = [one for one in bounded._probes() if not one["tools"]][:1]
    asked = {"template": tokenizer.chat_template, "values": values}
    command = [sys.executable, "-I", rendering.__file__, "60", str(1 << 30), "5"]
    text = json.dumps(asked) + "\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (rendering.TOO_LONG, "")
