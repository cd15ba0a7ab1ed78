"""The embedded policy's tokenizer: byte-level BPE of digits, nouns, letters and whole phrases."""

from collections.abc import Iterable
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from solver.embedded.words import WORDS

PAD, END = "<|pad|>", "<|end|>"
ROLES = ("system", "user", "assistant", "tool")
SPECIAL = (PAD, END, *(f"<|{role}|>" for role in ROLES))

# What a player or an author copies (digits, nouns, single letters) is one token wherever it stands: in
# an observation, in quotes of a program, in a box. Everything between may merge into long runs across
# spaces, so that a line which every program has costs one token.
_NAME = rf"(?<![A-Za-z])(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})(?![A-Za-z])"
_LETTER = r"(?<![A-Za-z_])[A-Za-z](?![A-Za-z_'\"])"
_PIECES = "|".join(
    (
        r'<tool_call>\{"name": "',
        r'", "arguments": \{',
        r'"?\}\}</tool_call>',
        r" ?\\boxed\{",
        r"\}\z",
        r"[01]\.0(?=,)",
        r"\d",
        _NAME,
        _LETTER,
        rf"\n*(?:(?!{_NAME}|{_LETTER}|\\boxed|\}}\z)[^\n\d])+",
        r"\s+",
    )
)

TEMPLATE = (
    "{%- if tools %}<|system|>tools"
    "{%- for tool in tools %} {{ tool.function.name }}("
    "{{- tool.function.parameters.properties.keys() | join(', ') }})"
    "{%- endfor %}<|end|>{% endif %}"
    "{%- for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{%- if add_generation_prompt %}<|assistant|>{% endif %}"
)


def train(texts: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """Learn the merges from ``texts`` and return an ordinary transformers tokenizer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        max_token_length=72,
    )
    # Every word of the list is to be one token.
    spoken = [f"{word} " * 2000 for word in WORDS]
    tokenizer.train_from_iterator([*texts, *spoken], trainer)
    return wrapped(tokenizer)


def wrapped(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """Give a tokenizer its special tokens and chat template."""
    make: Any = PreTrainedTokenizerFast
    fast: Any = make(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        extra_special_tokens=[f"<|{role}|>" for role in ROLES],
        clean_up_tokenization_spaces=False,
        model_max_length=1024,
    )
    fast.chat_template = TEMPLATE
    return fast  # type: ignore[no-any-return]
