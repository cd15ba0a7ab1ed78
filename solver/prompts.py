"""What the solver is shown besides the observation."""

from collections.abc import Sequence
from typing import Literal

from sandbox import JailInfo, Message
from solver.toolcalls import FORMS, Dialect

Prompt = Literal["short", "full"]

GAME = """\
You are playing a text game: {title}
Each message from the user is what you observe. Think as long as you need, then give your next
action inside \\boxed{{...}}; only the last box of a reply counts. You have {turns} turns."""

TOOLS = """\
You are an assistant with tools: {title}
Do what the user asks by calling tools. A call is written
{call}
and its result comes back in the next message. A reply without a call ends your turn.
You have {turns} replies."""


def opening(
    observation: Sequence[Message],
    info: JailInfo,
    hint: str | None,
    prompt: Prompt,
    max_turns: int,
    dialect: Dialect = "hermes",
) -> list[Message]:
    """Return the messages a play begins with; the hint is joined to the last user message.

    ``dialect`` is how the model writes tool calls.
    """
    messages = list(observation)
    if hint is not None:
        joint = "\nhint: " if prompt == "short" else "\n\nHint: "
        users = [i for i, message in enumerate(messages) if message.role == "user"]
        if users:
            messages[users[-1]] = Message("user", messages[users[-1]].content + joint + hint)
        else:
            messages.append(Message("user", joint.lstrip() + hint))
    if prompt == "full":
        text = GAME if info.setting == "game" else TOOLS
        words = text.format(title=info.title, turns=max_turns, call=FORMS[dialect])
        messages.insert(0, Message("system", words))
    return messages
