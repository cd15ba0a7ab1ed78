"""The embedded policy's tokenizer: byte-level BPE, one digit a token, names apart from punctuation."""

from collections.abc import Iterable
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from solver.embedded.words import WORDS

PAD, END = "<|pad|>", "<|end|>"
ROLES = ("system", "user", "assistant", "tool")
SPECIAL = (PAD, END, *(f"<|{role}|>" for role in ROLES))

# Words and digits that a player copies must be the same tokens in an observation, in an answer's box,
# in quotes of a program and in the JSON of a tool call; everything else may merge into long runs.
_PIECES = "|".join(
    (
        r'<tool_call>\{"name": "',
        r'", "arguments": \{',
        r'"?\}\}</tool_call>',
        r" ?\\boxed\{",
        r"\}\z",
        r"\n+ *",
        r"\d",
        r" ?[\"'](?=[a-z])",
        r" ?[a-z]{2,}(?=[\"'])",
        r" ?[a-z]+(?=[,:;?.!](?:\s|\z))",
        r" ?[a-z]+(?=\}\z)",
        r" ?(?:[^\s\d\"']|[\"'](?![a-z]))+?(?=\}\z)",
        r" ?(?:[^\s\d\"']|[\"'](?![a-z]))+(?: (?=\d))?",
        r" +",
        r"\s",
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
    )
    # Every word of the list is to be one token, with and without a space before it.
    spoken = [f"'{word}' {word}! " * 400 for word in WORDS]
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
