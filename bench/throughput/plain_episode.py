"""The sandbox's peer: an environment in a bare Python process, JSON lines on pipes, no jail.

Run as ``python -I -S plain_episode.py SOURCE``. It only ever runs this project's own measuring
environment; whatever a model wrote runs in the sandbox.
"""

import importlib.util
import json
import sys


def main() -> None:
    """Serve one episode: a seed first, then actions, until the input ends."""
    spec = importlib.util.spec_from_file_location("plain_environment", sys.argv[1])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    environment = next(
        kind for name, kind in sorted(vars(module).items()) if name.endswith("Env")
    )()
    observation, _ = environment.reset(seed=json.loads(sys.stdin.readline()))
    answer(observation)
    for line in sys.stdin:
        answer(environment.step(json.loads(line))[:4])


def answer(value: object) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
