"""What the warm-up teaches: the embedded policy's designs and plays, in the words of another model.

The policy gets a chat template of its own, plain ChatML: SmolLM2's puts a sentence about itself before
every conversation, and knows no tools, whose schemas would have to be told in 200 tokens.
"""

from collections.abc import Sequence
from random import Random

from solver.chat import Chat, Spoken
from solver.embedded import data
from solver.embedded.data import Segment
from spadekit.seeds import derive

TEMPLATE = (
    "{%- if tools %}{{ '<|im_start|>system\ntools' }}"
    "{%- for tool in tools %}{{ ' ' + tool.function.name + '('"
    " + tool.function.parameters.properties.keys() | join(', ') + ')' }}{% endfor %}"
    "{{- '<|im_end|>\n' }}{% endif %}"
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

Row = tuple[list[int], list[int]]
"""The ids of a conversation, and a mask that is 1 on those that the loss counts."""


def lesson(seed: int, step: int, designs: int, plays: int) -> list[list[Segment]]:
    """Return the conversations of one step: the same for the same seed and step, whatever came before."""
    rng = Random(derive(seed, "lesson", step))
    return [
        *(data.design(rng)[0] for _ in range(designs)),
        *(data.play(rng)[0] for _ in range(plays)),
    ]


def encode(chat: Chat, segments: Sequence[Segment]) -> Row:
    """Return the ids as an episode lays them down (``solver.chat``): prompts, suffixes, replies."""
    ids: list[int] = []
    mask: list[int] = []
    heard: list[Spoken] = []
    for segment in segments:
        if segment.role != "assistant":
            heard.append(Spoken(segment.role, segment.text))
            continue
        asked = chat.follow(heard) if ids else chat.start(heard)
        reply = [*chat.tokenizer.encode(segment.text, add_special_tokens=False), chat.close_id]
        ids += [*asked, *reply]
        mask += [0] * len(asked) + [int(segment.trained)] * len(reply)
        heard = []
    return ids, mask
