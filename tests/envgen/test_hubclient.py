"""How long the Hub may be silent."""

import socket
from collections.abc import Iterator

import httpx2
import huggingface_hub
import pytest
from huggingface_hub.utils import _http, close_session

from envgen import hubclient
from envgen.hubclient import patient_client


@pytest.fixture(autouse=True)
def unbound(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(hubclient, "_bound", [])
    former = _http._GLOBAL_CLIENT_FACTORY
    yield
    huggingface_hub.set_client_factory(former)


def test_the_bound_outlives_the_client_that_the_library_throws_away() -> None:
    plain = huggingface_hub.get_session()
    hooks = plain.event_hooks
    patient_client(7.0)
    close_session()  # as the library does after a connection that failed
    client = huggingface_hub.get_session()
    assert (client.timeout.read, client.timeout.connect) == (7.0, 7.0)
    assert client.follow_redirects
    assert client.event_hooks["request"][:-1] == hooks["request"] != []


def test_the_same_bound_again_leaves_the_client_to_whoever_is_using_it() -> None:
    patient_client(7.0)
    client = huggingface_hub.get_session()
    patient_client(7.0)
    assert huggingface_hub.get_session() is client
    assert not client.is_closed
    patient_client(3.0)
    assert huggingface_hub.get_session().timeout.read == 3.0


def test_a_call_that_would_wait_for_ever_is_bounded_too() -> None:
    patient_client(0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        api = huggingface_hub.HfApi(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(httpx2.ReadTimeout):
            api.dataset_info("user/name")
