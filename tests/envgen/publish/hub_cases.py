"""What may happen on the way to the Hub; run by ``test_upload.py`` in a process of its own.

``HF_ENDPOINT`` is set before anything imports the client, so all cases share one server.
"""
# ruff: noqa: E402

import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))
from tests.hub import CUT, LOST, SILENT, TOO_OFTEN, Hub, Repo

HUB = Hub()
os.environ["HF_ENDPOINT"] = HUB.url  # before the client is imported

import gymnasium
import huggingface_hub

import spadework
from envgen.publish import manifest
from envgen.publish.upload import Uploaded, upload
from envgen.registry import load_environments, register
from memory import Store
from memory.shards import digest_of
from spadekit.errors import BadInput

RELEASES = Path(os.environ["RELEASES"])
HOME = Path(os.environ["PUBLISHER"])
NAME = "tester/envs"

# How the client hands bytes to its HTTP library is its own affair.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The Hub, empty, with a token that may write."""
    HUB.repos.clear()
    HUB.large.clear()
    HUB.log.clear()
    HUB.failures.clear()
    HUB.meanwhile.clear()
    HUB.moved.clear()
    HUB.tokens, HUB.rest, HUB.limits = {"hf_write": True, "hf_read": False}, 0, False
    HUB.before = HUB.after = lambda *_: None
    monkeypatch.setenv("HF_TOKEN", "hf_write")
    yield HUB
    assert not HUB.failures, "a failure was never met"
    assert not HUB.meanwhile


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with HUB:
        yield


def send(
    release: str = "two",
    patience_s: float = 60.0,
    notes: list[str] | None = None,
    private: bool = False,
) -> Uploaded:
    folder = RELEASES / release
    told = notes if notes is not None else []
    mine = manifest.read(folder)
    return upload(folder, NAME, mine, private=private, patience_s=patience_s, note=told.append)


def files_of(release: str) -> dict[str, bytes]:
    folder = RELEASES / release
    return {name: (folder / name).read_bytes() for name in manifest.listed(folder)}


def rewritten(data: bytes, **changes: Any) -> bytes:
    """Return a manifest with other entries and the digest that these have."""
    body = {**json.loads(data), **changes}
    del body["digest"]
    return json.dumps({**body, "digest": digest_of(body)}).encode()


def repo() -> Repo:
    return HUB.repos["datasets", NAME]


def puts() -> int:
    return sum(method == "PUT" for method, _ in HUB.log)


def commits() -> int:
    return len(repo().commits) - 1  # the first one made the repository


def spade(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, Any]:
    monkeypatch.setattr(sys, "argv", ["spadework", *map(str, arguments), "--json"])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    return int(ended.value.code or 0), json.loads(capsys.readouterr().out)


def test_a_release_is_one_commit_and_one_tag_and_again_nothing() -> None:
    done = send()
    assert done.made
    assert commits() == 1
    assert repo().tags == {"v1.0.0": done.commit} == {"v1.0.0": repo().branches["main"]}
    files = repo().commits[done.commit]
    assert files == {
        name: (RELEASES / "two" / name).read_bytes() for name in manifest.listed(RELEASES / "two")
    }
    asked = len(HUB.log)
    again = send()
    assert (again.made, again.commit, commits()) == (False, done.commit, 1)
    assert all(method in ("GET", "HEAD") for method, _ in HUB.log[asked:])


def test_a_tag_of_another_release_is_refused_and_nothing_is_sent() -> None:
    send("one")
    before = commits()
    with pytest.raises(BadInput, match=r"the tag v1\.0\.0 is there already, .*tags never move"):
        send("two")
    assert commits() == before


def test_a_tag_that_somebody_moved_is_refused() -> None:
    send()
    repo().tags["v1.0.0"] = repo().commit({"README.md": b"other"}, "moved")
    with pytest.raises(BadInput, match=r"with no release, not with this one"):
        send()


TABLE = "environments/shard-000002.parquet"


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (TABLE, lambda data: data[:-1] + bytes([data[-1] ^ 1])),
        (TABLE, None),
        ("README.md", lambda data: data.replace(b"env", b"eve", 1)),
        ("envkit.py", lambda data: data + b"\nimport os\n"),
        ("environments/more.parquet", lambda _: b"PAR1"),
    ],
)
def test_a_tag_with_the_same_manifest_and_other_files_is_refused(path: str, change: Any) -> None:
    done = send()
    files = dict(repo().commits[done.commit])
    if change:
        files[path] = change(files.get(path, b""))
    else:
        del files[path]
    repo().tags["v1.0.0"] = repo().commit(files, "moved")
    with pytest.raises(BadInput, match=rf"but other files \({path}\); tags never move"):
        send()
    assert commits() == 2


def test_a_tag_with_a_manifest_that_goes_with_its_changed_files_is_refused() -> None:
    done = send()
    files = dict(repo().commits[done.commit])
    files[TABLE] = b"PAR1" + files[TABLE]
    held = json.loads(files[manifest.NAME])["files"]
    held[TABLE] |= {
        "sha256": hashlib.sha256(files[TABLE]).hexdigest(),
        "bytes": len(files[TABLE]),
    }
    files[manifest.NAME] = rewritten(files[manifest.NAME], files=held)
    repo().tags["v1.0.0"] = repo().commit(files, "moved")
    with pytest.raises(BadInput, match="with the rows of this release in other files"):
        send()


def test_what_others_put_beside_a_release_is_no_damage() -> None:
    done = send()
    files = {**repo().commits[done.commit], "notes/mine.txt": b"x", "plots/mine.png": b"y"}
    repo().tags["v1.0.0"] = repo().commit(files, "notes")
    assert send().made is False


def test_a_repository_with_other_data_is_refused_and_a_bare_one_is_taken() -> None:
    HUB.data_set(NAME, {"README.md": b"# mine", "train.csv": b"a,b"})
    with pytest.raises(BadInput, match=r"holds other files \(train\.csv\)"):
        send()
    HUB.data_set(NAME, {"README.md": b"# mine", ".gitattributes": b""})
    assert send().made


def test_an_older_release_gives_way_in_the_same_commit(tmp_path: Path) -> None:
    send("two")
    old = repo().branches["main"]
    mine = manifest.read(RELEASES / "one")
    newer = dataclasses.replace(mine, tag="v2.0.0")
    upload(RELEASES / "one", NAME, newer, private=False, patience_s=5, note=print)
    assert commits() == 2
    assert TABLE not in repo().commits[repo().branches["main"]]
    assert repo().tags["v1.0.0"] == old


def test_files_that_no_release_lists_stay_and_none_is_mixed_in() -> None:
    send("two")
    own = {"plots/mine.png": b"p", "documents/notes.txt": b"n", "LICENSE": b"l"}
    old = {**repo().commits[repo().branches["main"]], **own}
    repo().commit(old, "mine")
    mine = dataclasses.replace(manifest.read(RELEASES / "one"), tag="v2.0.0")

    def next_one() -> Uploaded:
        return upload(RELEASES / "one", NAME, mine, private=False, patience_s=5, note=print)

    for path in ("environments/mine.parquet", "plays/shard-000009.parquet"):
        assert path not in old
        repo().commit({**old, path: b"PAR1"}, "more")
        with pytest.raises(BadInput, match=rf"holds {path}, of no release"):
            next_one()
    repo().commit(old, "less")
    now = repo().commits[next_one().commit]
    assert {path: now.get(path) for path in own} == own
    assert now.keys() - own.keys() == files_of("one").keys()


def test_a_release_of_a_newer_version_is_left_alone() -> None:
    send("one")
    files = dict(repo().commits[repo().branches["main"]])
    files[manifest.NAME] = rewritten(files[manifest.NAME], schema=manifest.SCHEMA + 1)
    repo().commit(files, "newer")
    repo().tags.clear()
    with pytest.raises(BadInput, match=r"written by a newer version \(schema 2\); upgrade"):
        send("two")
    damaged = json.loads(files_of("one")[manifest.NAME]) | {"more": 1}
    files[manifest.NAME] = json.dumps(damaged).encode()
    repo().commit(files, "damaged")
    with pytest.raises(BadInput, match="its digest does not match"):
        send("two")
    HUB.data_set(NAME, {manifest.NAME: b'{"kind": "web app"}'})
    with pytest.raises(BadInput, match=r"holds other files \(manifest\.json\)"):
        send("two")


def test_private_means_private() -> None:
    assert send("one", private=True).private
    assert repo().private
    # Without the flag it stays what it is, and that is told.
    assert send("one").private
    repo().private = False
    with pytest.raises(
        BadInput, match="is public, and --private only makes a new data set private"
    ):
        send("one", private=True)
    assert not send("one").private


def test_a_repository_that_was_renamed_is_told() -> None:
    send("one")
    HUB.repos["datasets", "tester/worlds"] = HUB.repos.pop(("datasets", NAME))
    HUB.repos["datasets", "tester/worlds"].name = "tester/worlds"
    HUB.moved[NAME] = "tester/worlds"
    with pytest.raises(BadInput, match="is called tester/worlds on the Hub; publish to that name"):
        send("two")


def test_a_card_that_the_hub_refuses_is_one_line() -> None:
    HUB.failures.append(("POST", "/validate-yaml", 400))
    with pytest.raises(BadInput, match="the Hub refuses the release: Invalid metadata in README"):
        send()
    assert commits() == 0


@pytest.mark.parametrize(
    ("token", "says"),
    [
        (None, "no token for the Hub: set HF_TOKEN"),
        ("hf_read", "this token may not write there"),
        ("hf_old", "does not know this token"),
    ],
)
def test_a_token_that_will_not_do_is_one_line(
    token: str | None, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(BadInput, match=says):
        send()
    assert not HUB.repos
    HUB.data_set(NAME, {})
    with pytest.raises(BadInput, match=says):
        send()
    assert commits() == 0


def test_a_rival_commit_is_looked_at_and_ours_comes_after_it() -> None:
    send("one")
    del repo().tags["v1.0.0"]
    files = dict(repo().commits[repo().branches["main"]])
    HUB.meanwhile.append(lambda: repo().commit({**files, "README.md": b"# edited"}, "rival"))
    notes: list[str] = []
    done = send("two", notes=notes)
    assert notes == [f"{NAME} changed meanwhile; looking again"]
    assert repo().tags == {"v1.0.0": done.commit}
    assert [repo().titles[sha] for sha in repo().commits][-2] == "rival"
    assert repo().commits[done.commit]["README.md"] == (RELEASES / "two/README.md").read_bytes()


def test_a_rival_with_the_same_release_leaves_nothing_to_do() -> None:
    files = {
        name: (RELEASES / "two" / name).read_bytes() for name in manifest.listed(RELEASES / "two")
    }
    HUB.meanwhile.append(lambda: repo().commit(files, "rival"))
    done = send()
    assert commits() == 1
    assert repo().tags == {"v1.0.0": done.commit}


def test_a_rival_with_other_data_wins() -> None:
    HUB.meanwhile.append(lambda: repo().commit({"train.csv": b"a"}, "rival"))
    with pytest.raises(BadInput, match="holds other files"):
        send()


def test_rivals_that_never_stop_are_left_alone() -> None:
    HUB.meanwhile += [lambda: repo().commit({"README.md": b"x"}, "rival")] * 5
    with pytest.raises(BadInput, match="others keep committing"):
        send()


def test_a_tag_that_a_rival_sets_first_decides() -> None:
    def same_tag() -> None:
        repo().tags["v1.0.0"] = repo().branches["main"]

    HUB.meanwhile += [lambda: None, same_tag]
    assert send().made is False
    repo().tags.clear()
    repo().commit({}, "emptied")
    HUB.meanwhile += [lambda: None, lambda: repo().tags.update({"v1.0.0": "0" * 40})]
    repo().commits["0" * 40] = {}
    with pytest.raises(BadInput, match="tags never move"):
        send()


def test_a_broken_connection_in_mid_upload_goes_on() -> None:
    HUB.failures += [("PUT", "/large/", CUT)] * 2
    HUB.failures += [("POST", "/objects/batch", CUT), ("POST", "/commit/", CUT)]
    send()
    assert commits() == 1
    assert set(repo().tags) == {"v1.0.0"}


def test_a_file_that_is_refused_is_one_line() -> None:
    HUB.failures.append(("PUT", "/large/", 410))
    with pytest.raises(BadInput, match="the Hub cannot be used: .*410"):
        send()
    assert commits() == 0


def test_a_commit_whose_answer_was_lost_is_only_tagged() -> None:
    HUB.failures.append(("POST", "/commit/", LOST))
    done = send()
    assert commits() == 1
    assert repo().tags == {"v1.0.0": done.commit}


def test_a_tag_whose_answer_was_lost_is_found() -> None:
    HUB.failures.append(("POST", "/tag/", LOST))
    send()
    assert commits() == 1
    assert set(repo().tags) == {"v1.0.0"}


def test_giving_up_says_so_and_the_same_command_sends_nothing_twice() -> None:
    HUB.failures.append(("POST", "/commit/", CUT))
    with pytest.raises(BadInput, match="the same command goes on from here"):
        send(patience_s=0.5)
    sent = puts()
    assert sent > 0
    assert commits() == 0
    send()
    assert puts() == sent
    assert (commits(), set(repo().tags)) == (1, {"v1.0.0"})


def test_a_kill_between_commit_and_tag_leaves_a_tag_to_set() -> None:
    HUB.failures.append(("POST", "/tag/", 503))
    with pytest.raises(BadInput, match="status 503"):
        send(patience_s=0.5)
    assert repo().tags == {}
    done = send()
    assert (commits(), repo().tags) == (1, {"v1.0.0": done.commit})


def test_after_a_kill_the_commit_that_brought_the_release_is_tagged_and_no_later_one() -> None:
    first = send("one")
    repo().tags.clear()
    files = {**repo().commits[first.commit], "README.md": b"# edited by hand"}
    repo().commit(files, "a better card")
    assert send("one").commit == first.commit
    assert (commits(), repo().tags) == (2, {"v1.0.0": first.commit})
    # Nor does another release that came in between matter.
    repo().tags.clear()
    mine = dataclasses.replace(manifest.read(RELEASES / "two"), tag="v2.0.0")
    upload(RELEASES / "two", NAME, mine, private=False, patience_s=5, note=print)
    assert send("one").commit == first.commit
    assert commits() == 3
    # But what somebody took away from the data set is published anew.
    repo().tags.clear()
    repo().commit({"README.md": b"# gone"}, "all gone")
    assert send("one").commit == repo().branches["main"] != first.commit


ZYGOTE = """
import os, sys
from pathlib import Path
from envgen.publish import manifest
from envgen.publish.upload import upload
import huggingface_hub.hf_api
folder, name = Path(sys.argv[1]), sys.argv[2]
for _ in sys.stdin:
    child = os.fork()
    if not child:
        upload(folder, name, manifest.read(folder), private=False, patience_s=60, note=id)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def publisher() -> Iterator[subprocess.Popen[str]]:
    """A process that publishes the release ``two`` in a child of its own for each line it reads."""
    command = [sys.executable, "-c", ZYGOTE, str(RELEASES / "two"), NAME]
    environment = {**os.environ, "HF_TOKEN": "hf_write", "PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=environment) as process:  # type: ignore[call-overload]
        yield process
        process.stdin.close()


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/whoami"),
        ("POST", "/repos/create"),
        ("POST", "/preupload/"),
        ("POST", "/objects/batch"),
        ("PUT", "/large/"),
        ("POST", "/commit/"),
        ("POST", "/tag/"),
    ],
)
def test_a_publisher_that_is_killed_at_any_stage_goes_on(
    method: str, path: str, done: bool, publisher: subprocess.Popen[str]
) -> None:
    assert publisher.stdin
    assert publisher.stdout
    pids: list[int] = []
    ready = threading.Event()

    def kill(asked: str, where: str) -> None:
        ready.wait()
        if asked == method and path in where and pids:
            os.kill(pids.pop(), signal.SIGKILL)

    if not done:
        HUB.failures.append((method, path, CUT))
    HUB.before, HUB.after = (HUB.before, kill) if done else (kill, HUB.after)
    publisher.stdin.write("go\n")
    publisher.stdin.flush()
    pids.append(int(publisher.stdout.readline()))
    ready.set()
    assert int(publisher.stdout.readline()) == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while HUB.failures and time.monotonic() < deadline:
        time.sleep(0.01)
    HUB.before = HUB.after = lambda *_: None
    finished = send()
    assert commits() == 1
    assert repo().tags == {"v1.0.0": finished.commit} == {"v1.0.0": repo().branches["main"]}
    assert repo().commits[finished.commit] == files_of("two")
    assert send().made is False


@pytest.mark.parametrize("releases", [("two", "two"), ("one", "two")])
def test_two_publishers_at_once_make_one_release(releases: tuple[str, str]) -> None:
    told: dict[int, Uploaded | BadInput] = {}

    def work(number: int) -> None:
        try:
            told[number] = send(releases[number])
        except BadInput as error:
            told[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (tagged,) = repo().tags.values()
    won = [number for number, one in told.items() if isinstance(one, Uploaded)]
    lost = [one for one in told.values() if isinstance(one, BadInput)]
    assert len(lost) == len(set(releases)) - 1
    assert all("tags never move" in str(one) for one in lost)
    assert repo().commits[tagged] == files_of(releases[won[0]])


def test_a_hub_with_troubles_of_its_own_is_waited_for() -> None:
    HUB.failures += [("GET", "/api/datasets/", 500)] * 3
    HUB.failures += [("POST", "/commit/", 500)] * 3
    HUB.failures += [("POST", "/tag/", 503)]
    notes: list[str] = []
    send(notes=notes, patience_s=120)
    assert commits() == 1
    assert sum("status 500" in note for note in notes) == 6


def test_a_manifest_that_cannot_be_fetched_just_now_is_no_other_data() -> None:
    send("one")
    repo().tags.clear()
    repo().commit({**files_of("one"), "more.txt": b""}, "more")
    HUB.failures += [("HEAD", "/manifest.json", 503)] * 8
    HUB.failures += [("HEAD", "/manifest.json", CUT)]
    send("one")
    assert set(repo().tags) == {"v1.0.0"}


def test_a_hub_that_falls_silent_counts_as_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envgen.publish.upload.ANSWER_S", 0.5)
    HUB.failures.append(("POST", "/commit/", SILENT))
    notes: list[str] = []
    send(notes=notes, patience_s=120)
    assert "timed out" in notes[0]
    assert commits() == 1


def test_rate_limits_are_told_in_two_ways() -> None:
    for HUB.limits in (False, True):
        HUB.rest = 3600
        HUB.failures.append(("GET", "/refs", TOO_OFTEN))
        with pytest.raises(BadInput, match="wants 3600 s or more of rest"):
            send("one")


def test_a_quota_that_ends_soon_is_waited_for_and_a_long_one_is_told() -> None:
    HUB.rest = 1
    HUB.failures += [("POST", "/commit/", TOO_OFTEN)] * 2
    notes: list[str] = []
    send("one", notes=notes)
    assert [note for note in notes if "status 429" in note]
    HUB.rest = 3600
    HUB.failures.append(("POST", "/commit/", TOO_OFTEN))
    repo().tags.clear()
    with pytest.raises(BadInput, match=r"\(429\), and wants 3600 s or more of rest"):
        send("two")


def test_a_hub_that_is_away_is_one_line() -> None:
    HUB.failures += [("GET", "/api/whoami-v2", CUT)]
    with pytest.raises(BadInput, match="connection to the Hub keeps failing"):
        send(patience_s=0.1)


def test_published_by_command_and_imported_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ("publish", NAME, "--tag", "v1.0.0", "--home", HOME)
    code, told = spade(monkeypatch, capsys, *command)
    assert (code, told["made"]) == (0, True), told
    address = f"hf://{NAME}@v1.0.0"
    code, back = spade(monkeypatch, capsys, "import", address, "--home", tmp_path)
    assert (code, back["admitted"], back["shard"]) == (0, 3, 1), back
    with Store.open(HOME / "store") as mine, Store.open(tmp_path / "store") as theirs:
        here = {one.id: one.certificate for one in mine.environments()}
        assert {one.id: one.certificate for one in theirs.environments()} == here
        assert theirs.search("a string of beads", limit=1)[0].environment.id in here
    code, again = spade(monkeypatch, capsys, "import", address, "--home", tmp_path)
    assert (code, again["known"], again["shard"]) == (0, 3, None)
    # Without a store: ids of Gymnasium, in the order of the table.
    names = load_environments(NAME, revision="v1.0.0")
    assert [name.split("/")[1][:20] for name in names] == list(here)
    assert sorted(register(tmp_path / "store")) == sorted(names)
    env = gymnasium.make(names[0])
    assert env.reset(seed=1)[0]
    env.close()
    # A tag that moves is not followed.
    moved = {**repo().commits[told["commit"]], "README.md": b"changed"}
    repo().tags["v1.0.0"] = repo().commit(moved, "moved")
    code, told = spade(monkeypatch, capsys, "import", address, "--home", tmp_path)
    assert (code, "the tag has moved since shard 1" in told["error"]) == (2, True)
    repo().tags["v7"] = repo().branches["main"]
    code, told = spade(monkeypatch, capsys, "import", f"hf://{NAME}@v7", "--home", tmp_path)
    assert (code, "it was moved" in told["error"]) == (2, True)


def test_what_is_no_release_is_not_loaded(tmp_path: Path) -> None:
    HUB.data_set("tester/other", {"train.jsonl": b'{"source": "x"}\n'})
    with pytest.raises(BadInput, match="no release of Spadework"):
        load_environments("tester/other")
    with pytest.raises(BadInput, match="no such data set"):
        load_environments("tester/none", revision="v1")
    assert HUB.url == huggingface_hub.constants.ENDPOINT
