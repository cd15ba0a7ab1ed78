"""A store in object storage, against an S3 server on the loopback; copies between places."""

import logging
import threading
import urllib.request
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

import memory
from memory import MemoryConfig, Store
from memory.copying import copy
from memory.places import Bucket, Folder, place_of
from spadekit.errors import BadInput

CONFIG = MemoryConfig(fresh_s=0.0)


def _ask(port, path, method, body=b""):
    url = f"http://127.0.0.1:{port}/{path}"
    headers = {"Content-Type": "text/plain"}
    urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method)).close()


@pytest.fixture(scope="module")
def s3():
    """The port of an S3 server with a bucket, its address in the environment."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
        }.items():
            patched.setenv(name, value)
        _ask(port, "bucket", "PUT")
        yield port
    server.stop()


@pytest.fixture
def remote(s3, embedder, request):
    """An empty store in object storage."""
    uri = f"s3://bucket/{request.node.name[:40]}"
    with Store.open(uri, CONFIG, create=True, embedder=embedder) as store:
        yield store


def _copy(source, target):
    return copy(source, place_of(target), CONFIG)


def _truth(place):
    files = place.files()
    kinds = ("shards/", "plays/", "standings/", "releases/", "store.json")
    return {name: (place / name).read() for name in files if name.startswith(kinds)}


def test_a_store_in_object_storage_does_what_a_folder_does(remote, make):
    records = [make.environment(number) for number in range(4)]
    remote.publish(1, records, [make.design(0)], [make.play(0)], [], meta={"policy_version": 2})
    remote.append_plays([make.play(5, environment=records[0].id)])
    remote.upsert_standings([make.standing(records[3].id)])
    remote.make_release("v1", [1])
    with memory.open(str(remote.place), CONFIG) as view:
        found = view.search("false coin", limit=1).to_pylist()[0]
        assert (found["title"], found["status"]) == ("Weigh the coins.", "frontier")
        assert view.plays(records[0].id).num_rows == 1
        assert view.quarantine().num_rows == 1
        assert view.release("v1").environments.num_rows == 4
    assert remote.verify() == []
    assert remote.rebuild() == 3
    assert len(remote.environments()) == 4
    remote.compact()
    assert remote.verify() == []


def test_a_shard_in_object_storage_never_changes(remote, make):
    first = remote.publish(1, [make.environment(0)], [], [], [], meta={})
    assert remote.publish(1, [make.environment(0)], [], [], [], meta={}) == first
    with pytest.raises(BadInput, match=r"already published with other records.*next: 2"):
        remote.publish(1, [make.environment(1)], [], [], [], meta={})
    assert remote.verify() == []


def test_of_two_that_publish_one_number_at_once_one_wins_whole(remote, make, embedder):
    ends = []

    def publish(number):
        with Store.open(str(remote.place), CONFIG, embedder=embedder) as store:
            try:
                store.publish(1, [make.environment(number)], [], [], [], meta={})
                ends.append(number)
            except BadInput as error:
                ends.append(str(error))

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [end for end in ends if isinstance(end, int)]
    assert len(winners) == 1
    assert [one.id for one in remote.environments()] == [make.environment(winners[0]).id]
    assert remote.verify() == []


def test_what_an_interrupted_upload_left_is_no_shard_and_the_upload_goes_on(
    remote, make, monkeypatch
):
    create, calls = Bucket.create, iter(range(3))

    def cut(self, data):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return create(self, data)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Bucket, "create", cut)
        remote.publish(1, [make.environment(0)], [], [], [], meta={})
    assert remote.shards() == []
    assert remote.verify() == []
    with pytest.raises(BadInput, match="publish under the next number"):
        remote.publish(1, [make.environment(1)], [], [], [], meta={})
    remote.publish(1, [make.environment(0)], [], [], [], meta={})
    assert len(remote.environments()) == 1


def test_a_store_moves_to_object_storage_and_back(full, make, s3, tmp_path, embedder):
    full.append_plays([make.play(7)])
    full.make_release("v1", [1])
    full.embed()
    there, back = "s3://bucket/moved/store", tmp_path / "back"
    written = _copy(full, there).written
    assert written > 7
    assert _copy(full, there) == memory.copying.Copied(0, 3)
    with Store.open(there, CONFIG, embedder=embedder) as moved:
        assert moved.unembedded() == 0  # the tables came along
        assert moved.environments() == full.environments()
        assert moved.search("false coin")[0].environment == make.environment(3)
        _copy(moved, back)
    with Store.open(back, CONFIG, embedder=embedder) as returned:
        assert _truth(returned.place) == _truth(full.place)
        assert returned.verify() == []
        assert returned.unembedded() == 0


@pytest.mark.parametrize("done", [0, 1, 2, 9])
def test_an_interrupted_copy_is_no_store_and_is_finished_by_the_next(
    full, make, tmp_path, monkeypatch, done
):
    full.publish(2, [make.environment(20, 2)], [], [], [], meta={})
    target, calls = tmp_path / "copy", iter(range(done))
    replace, publish = Folder.replace, Folder.publish

    def cut(real):
        def verb(self, *arguments):
            if next(calls, None) is None and "copying.json" not in str(self):
                raise KeyboardInterrupt
            return real(self, *arguments)

        return verb

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Folder, "replace", cut(replace))
        patched.setattr(Folder, "publish", cut(publish))
        _copy(full, target)
    for create in (False, True):
        with pytest.raises(BadInput, match="a copy that is not finished; run the same"):
            Store.open(target, create=create)
    _copy(full, target)
    assert _truth(place_of(target)) == _truth(full.place)
    assert not (target / "copying.json").exists()


def test_a_copy_brings_a_store_up_to_date_and_refuses_another(full, make, tmp_path, embedder):
    target = tmp_path / "copy"
    _copy(full, target)
    full.publish(2, [make.environment(20, 2)], [], [], [], meta={})
    _copy(full, target)
    with Store.open(target, CONFIG, embedder=embedder) as copied:
        assert len(copied.environments()) == 11
        copied.publish(3, [make.environment(30, 3)], [], [], [], meta={})
    full.publish(3, [make.environment(31, 3)], [], [], [], meta={})
    with pytest.raises(BadInput, match="is another shard 3"):
        _copy(full, target)


def test_a_damaged_file_is_not_copied(full, tmp_path):
    plays = full.place.path / "shards" / "000001" / "plays.parquet"
    plays.write_bytes(plays.read_bytes()[:-1])
    with pytest.raises(BadInput, match=r"plays\.parquet: its SHA-256 differs"):
        _copy(full, tmp_path / "copy")
    assert not (tmp_path / "copy" / "store.json").exists()


def test_a_copy_into_other_files_or_into_itself_is_refused(full, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds other files"):
        _copy(full, tmp_path / "full")
    assert [entry.name for entry in (tmp_path / "full").iterdir()] == ["note.txt"]
    with pytest.raises(BadInput, match="lie in one another"):
        _copy(full, full.place.path / "inside")
    with pytest.raises(BadInput, match="lie in one another"):
        _copy(full, full.place.path)


def test_a_copy_into_itself_by_another_name_is_refused(full, tmp_path):
    root = full.place.path
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(root)
    other.mkdir()
    before = _truth(full.place)
    with Store.open(link, CONFIG, embedder=full.embedder) as by_link:
        for target in (root / "inside", link / "inside", root, other / ".." / root.name):
            with pytest.raises(BadInput, match="lie in one another"):
                _copy(by_link, target)
    for target in (link, link / "inside", other / ".." / root.name / "inside"):
        with pytest.raises(BadInput, match="lie in one another"):
            _copy(full, target)
    assert _truth(full.place) == before
    assert not (root / "inside").exists()


def test_a_target_that_can_be_no_folder_is_one_line(full, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    for target in (file, file / "x", Path("/proc/xx")):
        with pytest.raises(BadInput, match=rf"^{target}.*cannot be used for a copy to {target} \("):
            _copy(full, target)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("address", ["", " ", "file://"])
def test_an_empty_address_is_no_place(address):
    with pytest.raises(BadInput, match="names no place for a store"):
        place_of(address)


def test_addresses_that_lead_nowhere_are_one_line(s3, monkeypatch):
    with pytest.raises(BadInput, match=r"s3://bucket/nothing: no store here"):
        Store.open("s3://bucket/nothing")
    for create in (False, True):
        with pytest.raises(BadInput, match="there is no such bucket .*; make it"):
            Store.open("s3://elsewhere/store", create=create)
    for address in ("ftp://host/x", "s3://", "s3:///"):
        with pytest.raises(BadInput, match="is no place for a store"):
            Store.open(address)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(BadInput, match="it cannot be reached .*AWS_ENDPOINT_URL"):
        Store.open("s3://bucket/store")


def test_wrong_credentials_are_one_line_and_change_nothing(s3, remote, make):
    before = remote.place.files()
    _ask(s3, "moto-api/reset-auth", "POST", b"0")
    try:
        with pytest.raises(BadInput, match="access is refused .*AWS_ACCESS_KEY_ID"):
            Store.open(str(remote.place))
        with pytest.raises(BadInput, match="access is refused"):
            remote.publish(1, [make.environment(0)], [], [], [], meta={})
    finally:
        _ask(s3, "moto-api/reset-auth", "POST", b"Infinity")
    assert remote.place.files() == before
