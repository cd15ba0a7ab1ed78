"""A process of its own that prints questions of reasoning-gym: ``python -m envgen.publish.questions``.

A line of JSON for each task, with a few questions: they are drawn anew for everybody, so what can be
looked for is what they have in common.
"""

import json

from envgen.pools.child import answering
from spadekit.seeds import derive

EACH = 3


def main() -> None:
    """Print the questions."""
    with answering() as lines:
        import reasoning_gym

        from envgen.pools.reasoning_gym import names

        for task in names():
            try:
                seed = derive(0, "questions", task) % 2**31
                data = reasoning_gym.create_dataset(task, size=EACH, seed=seed)
                asked = [str(data[number]["question"]) for number in range(EACH)]
            except Exception:  # a task that cannot be made cannot be found either
                continue
            print(json.dumps({"task": task, "questions": asked}), file=lines)


if __name__ == "__main__":
    main()
