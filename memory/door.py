"""What every public method of the store passes through: failures of storage become one line."""

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from memory import faults
from memory.places import Place
from spadekit.errors import BadInput

Params = ParamSpec("Params")
Answer = TypeVar("Answer")


class Reopening(Protocol):
    """What a method's object must offer."""

    @property
    def place(self) -> Place:
        """Where the store lies."""

    def close(self) -> None:
        """Let go of the tables, so that the next use opens them anew."""


Self = TypeVar("Self", bound=Reopening)


def answering(
    method: Callable[Concatenate[Self, Params], Answer],
) -> Callable[Concatenate[Self, Params], Answer]:
    """Wrap a method: what storage says when it fails becomes ``BadInput`` with the next step.

    Tables that cannot be read are opened anew and asked once more: another process may have rebuilt
    or removed them. The store's methods can be repeated, so writers are treated alike.
    """

    @functools.wraps(method)
    def answer(self: Self, /, *args: Params.args, **kwargs: Params.kwargs) -> Answer:
        # Rust panics come as exceptions that are no `Exception`; whatever is not storage passes.
        try:
            return method(self, *args, **kwargs)
        except BaseException as error:
            if isinstance(error, BadInput) or not faults.is_storage(error):
                raise
            if faults.cause(error):
                raise BadInput(faults.explain(error, str(self.place))) from error
        self.close()
        try:
            return method(self, *args, **kwargs)
        except BaseException as error:
            if isinstance(error, BadInput) or not faults.is_storage(error):
                raise
            line = faults.explain if faults.cause(error) else faults.damaged
            raise BadInput(line(error, str(self.place))) from error

    return answer
