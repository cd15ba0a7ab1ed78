# ruff: noqa: RUF001 - some families write their marks with fullwidth bars
"""Model families as tests need them: a chat template and a small tokenizer with the family's tokens.

The templates in ``tests/golden/templates`` say what the public ones of these families say to
conversations of text (Qwen3, Llama 3, SmolLM2's ChatML, DeepSeek-R1's distillations); the tokenizers
have the families' added tokens, special where theirs are, over a byte-level BPE of a few lines.
"""

from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

TEMPLATES = Path(__file__).parents[1] / "golden" / "templates"
FAMILIES = ("qwen3", "llama3", "chatml", "r1")
VOCABULARY = 480
# Qwen's: runs of line breaks are pieces of their own, digits stand alone.
PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEXT = [
    "<think>\nThe lock is at 7 and I am at 3, so I walk right.\n</think>\n\n\\boxed{right}",
    "You are at 3, the lock is at 7. left or right?\nturn 2: no, still 4 away\n\n",
    '<tool_call>\n{"name": "find_parcel", "arguments": {"name": "A. Ito"}}\n</tool_call>',
    '{"name": "find_parcel", "parameters": {"name": "A. Ito"}}',
    "system\nuser\nassistant\ntool\nipython\n\nYou are a helpful AI assistant.",
]
SPECIAL = {
    "qwen3": ("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    "llama3": (
        *("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"),
        *("<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|finetune_right_pad_id|>"),
    ),
    "chatml": ("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    "r1": (
        *("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"),
        *("<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"),
        *("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
    ),
}
STRUCTURAL = {
    "qwen3": (
        *("<think>", "</think>", "<tool_call>", "</tool_call>"),
        *("<tool_response>", "</tool_response>"),
    ),
    "llama3": (),
    "chatml": (),
    "r1": ("<｜User｜>", "<｜Assistant｜>", "<think>", "</think>"),
}
"""Added, but not special."""
ENDS = {
    "qwen3": "<|im_end|>",
    "llama3": "<|eot_id|>",
    "chatml": "<|im_end|>",
    "r1": "<｜end▁of▁sentence｜>",
}
BEGINS = {"llama3": "<|begin_of_text|>", "r1": "<｜begin▁of▁sentence｜>"}


def template(family: str) -> str:
    """The chat template of a family."""
    return (TEMPLATES / f"{family}.jinja").read_text(encoding="utf-8")


def make_tokenizer(family: str, source: str | None = None) -> PreTrainedTokenizerFast:
    """Train a family's tokenizer; ``source``: another template than the family's."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIAL[family]) - len(STRUCTURAL[family]),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(TEXT, trainer)
    raw.add_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL[family]])
    raw.add_tokens(
        [AddedToken(text, special=False, normalized=False) for text in STRUCTURAL[family]]
    )
    marks: dict[str, Any] = {"eos_token": ENDS[family], "pad_token": SPECIAL[family][-1]}
    if family in BEGINS:
        marks["bos_token"] = BEGINS[family]
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, **marks)
    tokenizer.chat_template = source or template(family)
    return tokenizer
