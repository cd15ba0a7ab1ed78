"""A process of its own that makes questions with a task package: ``python -m envgen.pools.make``.

Task packages are trusted code of their authors, not generated code; they still get their own
process, because they reseed the shared generators, leave threads behind and may hang. With a fixed
``PYTHONHASHSEED`` the same task gives the same questions each time.

    python -m envgen.pools.make reasoning-gym gcd lcm

prints one JSON line per task (all without a name): ``{"task", "title", "skills", "source"}`` or
``{"task", "refused"}``; a first line lists the names there are.
"""

import json
import sys
from collections.abc import Sequence
from importlib import import_module

from envgen.pools.child import answering
from envgen.pools.questions import Refusal

PACKAGES = {
    "reasoning-gym": "envgen.pools.reasoning_gym",
    "rlve-gym": "envgen.pools.rlve_gym",
}


def main(arguments: Sequence[str]) -> None:
    """Print a line for each task."""
    package, *wanted = arguments
    with answering() as lines:
        module = import_module(PACKAGES[package])
        known = module.names()
        print(json.dumps({"tasks": known}), file=lines, flush=True)
        for task in wanted or known:
            try:
                made = module.make(task)
                line = {"task": task, "title": made[0], "skills": made[1], "source": made[2]}
            except Refusal as refusal:
                line = {"task": task, "refused": str(refusal)}
            except Exception as error:  # whatever a package raises is its own fault, not ours
                text = " ".join(str(error).split())[:200]
                line = {
                    "task": task,
                    "refused": f"the package fails: {type(error).__name__}: {text}",
                }
            print(json.dumps(line), file=lines, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
