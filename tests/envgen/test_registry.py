import dataclasses
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import gymnasium
import huggingface_hub
import pytest
from gymnasium.utils.env_checker import check_env
from huggingface_hub.utils import _http

from envgen import hub, hubclient
from envgen.registry import load_environments, register
from envgen.seeds import load
from memory import EnvironmentRecord, Store, environment_id
from spadekit.errors import BadInput


def stored(root: Path) -> str:
    """Publish one seed and return its id."""
    seed = next(seed for seed in load() if seed.name == "beads")
    fields = {field.name: "" for field in dataclasses.fields(EnvironmentRecord)}
    record = EnvironmentRecord(
        **fields
        | {
            "id": environment_id(seed.setting, seed.source, seed.hint),
            "shard": 1,
            "setting": seed.setting,
            "skills": seed.skills,
            "title": "Continue three strings of numbered beads.",
            "source": seed.source,
            "hint": seed.hint,
            "difficulty": seed.difficulty,
            "policy_version": 0,
            "parents": (),
        }
    )
    with Store.open(root, create=True) as store:
        store.publish(1, [record], [], [], [], meta={})
    return record.id


def test_a_stored_environment_is_a_gymnasium_environment(tmp_path: Path) -> None:
    identity = stored(tmp_path / "store")
    (name,) = register(tmp_path / "store")
    assert name == f"spadework/{identity}-v0"
    assert register(tmp_path / "store") == [name]
    env = gymnasium.make(name, render_mode="ansi")
    try:
        check_env(env.unwrapped)
        first, _ = env.reset(seed=7)
        again, _ = env.reset(seed=7)
        other, _ = env.reset(seed=8)
    finally:
        env.close()
    assert first == again != other


def test_a_hub_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "SILENCE_S", 0.3)
    monkeypatch.setattr(hubclient, "_bound", [])
    former = _http._GLOBAL_CLIENT_FACTORY
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections and never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
        try:
            with pytest.raises(BadInput, match="hf://user/name@v1: the Hub cannot be used"):
                load_environments("user/name", revision="v1")
            client = huggingface_hub.get_session()
            assert client.timeout.read == 0.3  # for the files as well
        finally:
            huggingface_hub.set_client_factory(former)


class Html(BaseHTTPRequestHandler):
    """Answers as a proxy in trouble does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>try again</html>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_hub_that_answers_with_no_json_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), Html) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
        with pytest.raises(BadInput, match="the Hub cannot be used: its answer is no JSON"):
            load_environments("user/name", revision="v1")
        server.shutdown()
