"""Whether rendering a chat template ends: tried in a process that may be ended, before it is done in ours.

A model's folder is data of strangers, and its template a program. This finds one that never ends, or whose
text grows without bound with a conversation of a few turns, whether by mistake or not. It is no proof: what
waits for words that no probe says is found when they are said, by the process that hangs.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from solver.rendering import TOO_LARGE, TOO_LONG
from solver.templates import PROBE, REPLY, THOUGHT, TOOL, assistant
from spadekit.errors import BadInput, OurFault

SECONDS = 5
"""Of CPU, for all probes together; the templates of public models take milliseconds."""
PATIENCE_S = 120.0
"""On a busy machine those may take a while."""
MEMORY = 1 << 30
LONGEST = 1_000_000
"""Characters; the longest probe has some twenty short messages."""
TURNS = 8


def check_bounded(tokenizer: Any) -> None:
    """Raise ``BadInput`` for a tokenizer whose chat template cannot be rendered within the limits."""
    named = tokenizer.chat_template
    sources = named.values() if isinstance(named, dict) else [named]
    told = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    for source in sources:
        if source and (reason := _unbounded(source, json.dumps(told))):
            raise BadInput(
                f"the chat template {reason} on a conversation of a few words; it is damaged or hostile, "
                "use another model"
            )


@cache
def _unbounded(source: str, told: str) -> str:
    """Return what is wrong with a template, "" when it renders the probes; ``told`` is a JSON object.

    Raises ``OurFault`` when no process can be had for it.
    """
    values = [{**json.loads(told), **one} for one in _probes()]
    try:
        done = subprocess.run(
            [
                *(sys.executable, "-I", str(Path(__file__).with_name("rendering.py"))),
                *map(str, (SECONDS, MEMORY, LONGEST)),
            ],
            input=json.dumps({"template": source, "values": values}).encode() + b"\n",
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode < 0:
        return f"takes more than {SECONDS} seconds"
    reasons = {
        0: "",
        TOO_LONG: f"makes a text of more than {LONGEST} characters",
        TOO_LARGE: f"takes more than {MEMORY >> 20} MB",
    }
    if done.returncode not in reasons:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise OurFault(f"a chat template cannot be tried in a process of its own: {said}")
    return reasons[done.returncode]


def _probes() -> list[dict[str, Any]]:
    """Conversations of each kind that occurs: short and long, with reasoning, with tools."""
    asked = {"role": "user", "content": PROBE}
    turns = [[asked, assistant(THOUGHT + REPLY, apart)] for apart in (True, False)]
    used = [asked, assistant(REPLY, False), {"role": "tool", "content": PROBE}, asked]
    system = {"role": "system", "content": PROBE}
    conversations = [[asked], [system, asked], *(TURNS * turn + [asked] for turn in turns), used]
    return [
        {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": True}
        for messages in conversations
        for tools in (None, [dict(TOOL)])
    ]
