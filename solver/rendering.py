"""Renders a chat template in a process of its own: ``python -I rendering.py SECONDS MEMORY LONGEST``.

A template is a program of whoever made the model. It is rendered much as transformers does, with each of
the values of a line of JSON, ``{"template", "values"}``; a loop or a text without an end ends this process
by a signal or with a code of its own, and nothing else. What a template refuses to render is not judged
here. It stands alone, so that starting it costs no more than importing Jinja.
"""

import json
import re
import resource
import sys
from contextlib import suppress
from typing import Any, NoReturn

TOO_LONG, TOO_LARGE = 4, 5
"""Exit codes: a text of more than ``LONGEST`` characters, more than ``MEMORY`` bytes."""
TRACKED = re.compile(r"\{%[-+]?\s*(?:end)?generation\s*[-+]?%\}")
"""Marks of transformers' own that add nothing to the text."""


def main(seconds: int, memory: int, longest: int) -> int:
    """Render what stdin says in so many seconds of CPU and return the exit code."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with suppress(ValueError, OSError):  # a system without this limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    asked = json.loads(sys.stdin.readline())
    for values in asked["values"]:
        try:
            template = _environment().from_string(TRACKED.sub("", asked["template"]))
            length = 0
            for text in template.generate(**values):
                length += len(text)
                if length > longest:
                    return TOO_LONG
        except MemoryError:
            return TOO_LARGE
        except Exception as error:  # said where it is rendered in earnest
            sys.stderr.write(f"{error}\n")
    return 0


def _environment() -> Any:
    from jinja2.exceptions import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message: str) -> NoReturn:
        raise TemplateError(message)

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    made.filters["tojson"] = json.dumps
    made.globals |= {"raise_exception": refuse, "strftime_now": lambda form: "2024-07-26"}
    return made


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
