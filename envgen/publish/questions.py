"""A process of its own that prints questions of reasoning-gym: ``python -m envgen.publish.questions``.

A line of JSON for each task, with a few questions: they are drawn anew for everybody, so what can be
looked for is what they have in common.
"""

import json
import os
import warnings

from spadekit.seeds import derive

EACH = 3


def main() -> None:
    """Print the questions."""
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
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
    lines.flush()
    # Threads that the package left behind must not keep this process.
    os._exit(0)


if __name__ == "__main__":
    main()
