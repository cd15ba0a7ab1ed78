"""The chat templates that the package ``trl`` ships: what is found out about each, and ours beside them.

Skipped where ``trl`` is not installed; nothing of it is imported but the files.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from solver.chat import Chat
from spadekit.errors import BadInput
from tests.solver.families import make_tokenizer, template

PACKAGE = find_spec("trl")
PLACE = Path(((PACKAGE and PACKAGE.submodule_search_locations) or [""])[0]) / "chat_templates"
pytestmark = pytest.mark.skipif(not PLACE.is_dir(), reason="trl is not installed")

STRIPS = "strips the reasoning from earlier turns"
OPENS = "opens a past turn differently from the generation prompt"
MANNERS = [
    # file, thinking, separate, opened, dialect, shows tools
    ("qwen2_5", "default", "", False, "hermes", True),
    ("qwen3", "default", STRIPS, False, "hermes", True),
    ("qwen3", "off", OPENS, False, "hermes", True),
    ("qwen3_training", "default", "", False, "hermes", True),
    ("qwen3_training", "off", "", False, "hermes", True),
    ("qwen3_instruct_2507", "default", "", False, "hermes", True),
    ("qwen3_5_think", "default", STRIPS, True, "xml", True),
    ("qwen3_5_think", "off", OPENS, False, "xml", True),
    ("qwen3_8", "default", "", True, "xml", True),
    ("qwen3_8", "off", "", False, "xml", True),
    ("llama3", "default", "", False, "hermes", False),
    ("llama3_1", "default", "", False, "llama3", True),
    ("llama3_2", "default", "", False, "llama3", True),
    ("deepseek_r1_distill", "default", STRIPS, True, "hermes", False),
    ("nemotron_3_nano", "default", STRIPS, True, "xml", True),
    ("glm4moe", "default", OPENS, False, "hermes", False),
    ("lfm2_2_5", "default", STRIPS, False, "hermes", False),
    ("phi3", "default", "", False, "hermes", False),
]
CALLED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": "<think>\nHm.\n</think>\n\n<tool_call>{}</tool_call>"},
    {"role": "tool", "content": '{"shelf": 3}'},
    {"role": "assistant", "content": "On shelf 3."},
    {"role": "user", "content": " And that one? "},
]
TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}


def tokenizer_for(name: str) -> PreTrainedTokenizerFast:
    """A tokenizer with the tokens that close a turn in any of them."""
    base = make_tokenizer("chatml").backend_tokenizer
    ends = ("</s>", "<bos>", "<|end|>", "<|user|>", "<|eot_id|>", "<｜end▁of▁sentence｜>")  # noqa: RUF001
    base.add_tokens([AddedToken(text, special=True, normalized=False) for text in ends])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=base, bos_token="<bos>", eos_token="</s>", pad_token="<|endoftext|>"
    )
    tokenizer.chat_template = (PLACE / f"{name}.jinja").read_text(encoding="utf-8")
    return tokenizer


@pytest.mark.parametrize(
    ("name", "thinking", "separate", "opened", "dialect", "shows_tools"), MANNERS
)
def test_the_manner_of_a_public_template(
    name: str, thinking: Any, separate: str, opened: bool, dialect: str, shows_tools: bool
) -> None:
    found = Chat(tokenizer_for(name), thinking=thinking).manner
    assert (found.separate, found.opened, found.no_tools) == (separate, opened, "")
    assert (found.dialect, found.shows_tools) == (dialect, shows_tools)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gptoss", "marks reasoning with <|channel|>"),
        ("gemma4_v5", "marks reasoning with <|channel>"),
        ("smolvlm", "rewrites earlier turns"),
    ],
)
def test_a_public_template_that_is_refused(name: str, reason: str) -> None:
    with pytest.raises(BadInput) as refused:
        Chat(tokenizer_for(name))
    assert reason in str(refused.value)


@pytest.mark.parametrize(("ours", "theirs"), [("qwen3", "qwen3"), ("llama3", "llama3_2")])
@pytest.mark.parametrize("tools", [None, [TOOL]])
@pytest.mark.parametrize("length", range(2, len(CALLED) + 1))
@pytest.mark.parametrize("options", [{}, {"enable_thinking": False}])
def test_the_templates_of_the_golden_tests_say_what_the_public_ones_say(
    ours: str, theirs: str, tools: Sequence[Any] | None, length: int, options: dict[str, bool]
) -> None:
    tokenizer = make_tokenizer(ours)
    given = CALLED[:length]
    texts = [
        tokenizer.apply_chat_template(
            given,
            tools=tools,
            chat_template=source,
            tokenize=False,
            add_generation_prompt=given[-1]["role"] != "assistant",
            **options,
        )
        for source in (template(ours), (PLACE / f"{theirs}.jinja").read_text(encoding="utf-8"))
    ]
    assert texts[0] == texts[1]
