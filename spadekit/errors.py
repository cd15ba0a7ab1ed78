"""The errors that the command line turns into exit codes.

    Exception
    ├── BadInput   the user's: wrong arguments, configuration or files   -> one line, exit 2
    └── OurFault   ours: something that should have worked did not       -> one line, exit 3

Faults of an environment or of a policy are data, not errors: they live in ``sandbox`` and ``solver``.
"""


class BadInput(Exception):
    """What the user gave cannot be used; the message says what, where, and what to do."""


class OurFault(Exception):
    """Something of ours failed; nothing was scored and nothing was half-written."""
