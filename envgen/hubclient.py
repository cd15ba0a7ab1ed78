"""The Hub's client with a bound on how long the Hub may be silent, for all of this process."""

import threading
from typing import Any

_LOCK = threading.Lock()
_bound: list[float] = []


def patient_client(timeout_s: float) -> None:
    """Let every HTTP client that the Hub's library makes from now on give up a silence of so many seconds.

    By itself the library waits without end for a connection that nobody closed. To set the timeout of
    the client at hand does not last: after a connection that fails the library makes another one. And
    some of its calls say themselves that they would wait for ever: the bound is put into each request.
    """
    from huggingface_hub import get_session, set_client_factory

    with _LOCK:
        # To set a factory closes the client, under whoever is using it.
        if _bound == [timeout_s]:
            return
        plain = get_session()
        kind, hooks = type(plain), plain.event_hooks
        before = [one for one in hooks["request"] if one.__name__ != "bound"]

        def bound(request: Any) -> None:
            told = request.extensions.get("timeout", {})
            request.extensions["timeout"] = {
                name: timeout_s if told.get(name) is None else told[name]
                for name in ("connect", "read", "write", "pool")
            }

        def made() -> Any:
            asked = {**hooks, "request": [*before, bound]}
            return kind(event_hooks=asked, follow_redirects=True, timeout=timeout_s)

        set_client_factory(made)
        _bound[:] = [timeout_s]
