"""A small Hugging Face Hub on the loopback interface, for tests with the real client.

It keeps data sets and models in memory: commits, branches, tags, large files, trees, ranges of bytes.
Set ``HF_ENDPOINT`` to its ``url`` and ``HF_HUB_DISABLE_XET=1`` before ``huggingface_hub`` is imported.
"""

import base64
import hashlib
import io
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

DATE = "2026-01-01T00:00:00.000Z"
LARGE = 10_000
CUT, LOST, SILENT, TOO_OFTEN = 0, -1, -2, 429
WRITING = re.compile(
    r"/(?:api/repos/create|api/.*/(?:commit|tag|branch|preupload)/.*|.*/objects/batch)"
)
LARGE_ENDINGS = (".parquet", ".arrow", ".lance", ".safetensors")


@dataclass
class Repo:
    """One repository: commits by their sha, each a mapping from path to bytes."""

    kind: str  # "datasets" or "models"
    name: str
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    gated: bool = False
    private: bool = False

    def commit(self, files: Mapping[str, bytes], title: str, branch: str = "main") -> str:
        """Make a commit of all files of a branch; return its sha."""
        # As the client caches by commit, other content must be another commit.
        sums = sorted((path, hashlib.sha1(data).hexdigest()) for path, data in files.items())
        text = json.dumps([self.name, len(self.commits), title, sums])
        sha = hashlib.sha1(text.encode()).hexdigest()
        self.commits[sha] = dict(files)
        self.titles[sha] = title
        self.branches[branch] = sha
        return sha

    def resolve(self, revision: str) -> str | None:
        """Return the sha of a branch, a tag or the start of a sha."""
        for table in (self.branches, self.tags):
            if revision in table:
                return table[revision]
        found = [sha for sha in self.commits if len(revision) >= 7 and sha.startswith(revision)]
        return found[0] if len(found) == 1 else None


class Hub:
    """The server; a context manager. ``log`` lists (method, path); ``failures`` are injected.

    A failure is (method, pattern of the path, status), once each. Status ``CUT`` closes the connection
    without doing anything, ``LOST`` does the work and loses the answer, ``SILENT`` says nothing for
    two seconds. A refusal for asking too often (429) wants ``rest`` seconds, told by ``Retry-After`` or,
    with ``limits``, as the Hub tells its rate limits. ``meanwhile`` are things that others do just before
    a commit or a tag arrives; ``before`` and ``after`` are called with each request. ``moved`` maps former
    names of repositories to present ones. ``tokens`` maps the tokens that are known to whether they may
    write; None: all may.
    """

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.large: dict[str, bytes] = {}
        self.log: list[tuple[str, str]] = []
        self.failures: list[tuple[str, str, int]] = []
        self.meanwhile: list[Callable[[], object]] = []
        self.tokens: dict[str, bool] | None = None
        self.rest, self.limits = 0, False
        self.moved: dict[str, str] = {}
        self.before: Callable[[str, str], object] = lambda *_: None
        self.after: Callable[[str, str], object] = lambda *_: None
        self.lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def data_set(self, name: str, files: Mapping[str, bytes]) -> Repo:
        """Put a data set there with one commit."""
        repo = self.repos["datasets", name] = Repo("datasets", name)
        repo.commit(files, "files")
        return repo


def is_large(path: str, size: int) -> bool:
    """Whether the Hub would keep a file apart."""
    return size > LARGE or path.endswith(LARGE_ENDINGS)


def entry(path: str, data: bytes) -> dict[str, Any]:
    """Return a file as a tree lists it."""
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    found: dict[str, Any] = {"type": "file", "path": path, "size": len(data), "oid": blob}
    if is_large(path, len(data)):
        digest = hashlib.sha256(data).hexdigest()
        found["lfs"] = {"oid": digest, "size": len(data), "pointerSize": 134}
    return found


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def answer(self) -> None:
            address = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(address.query))
            data = self._body()
            for old, new in hub.moved.items():
                if re.search(rf"/{old}(?:\.git)?(?:/|$)", address.path):
                    return self._send({}, 307, Location=self.path.replace(old, new, 1))
            hub.before(self.command, address.path)
            self._work(address.path, query, data)
            return hub.after(self.command, address.path)

        def _work(self, path: str, query: Mapping[str, str], data: bytes) -> None:
            with hub.lock:
                hub.log.append((self.command, path))
                for failure in hub.failures:
                    if failure[0] == self.command and re.search(failure[1], path):
                        hub.failures.remove(failure)
                        if self._failed(failure[2]):
                            return None
                        break
                if not self._may(path):
                    return None
                if self.command == "POST" and re.search("/(commit|tag)/", path):
                    for deed in [hub.meanwhile.pop(0) for _ in hub.meanwhile[:1]]:
                        deed()
                for pattern, method in ROUTES:
                    if match := re.fullmatch(pattern, path):
                        parts = [urllib.parse.unquote(part or "") for part in match.groups()]
                        return method(self, *parts, query=query, data=data)
            return self._error(404)

        def _failed(self, status: int) -> bool:
            """Fail as a failure wants it; return whether the request is done with."""
            if status > 0:
                asked = {"RateLimit": f'"api";r=0;t={hub.rest}'}
                asked = asked if hub.limits else {"Retry_After": str(hub.rest)}
                self._send({"error": "refused"}, status, **(asked if status == TOO_OFTEN else {}))
                return True
            if status == SILENT:
                time.sleep(2)
            self.close_connection = True
            if status == LOST:
                self.wfile = io.BytesIO()
            return status != LOST

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer

        def _may(self, path: str) -> bool:
            """Whether the token lets one ask for this; the answer is given when it does not."""
            if hub.tokens is None or (path != "/api/whoami-v2" and not WRITING.fullmatch(path)):
                return True
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if token not in hub.tokens:
                self._error(401, text="Invalid credentials")
            elif WRITING.fullmatch(path) and not hub.tokens[token]:
                self._error(403, text="Forbidden")
            else:
                return True
            return False

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline().strip(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _send(self, value: Any, status: int = 200, **headers: str) -> None:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, text in headers.items():
                self.send_header(name.replace("_", "-"), text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _error(self, status: int, code: str = "", text: str = "refused") -> None:
            headers = {"X_Error_Code": code, "X_Error_Message": text} if code else {}
            self._send({"error": text}, status, **headers)

        def _repo(self, kind: str, name: str) -> Repo | None:
            repo = hub.repos.get((kind or "models", name))
            if repo is None:
                self._error(404, "RepoNotFound", "Repository not found")
            elif repo.gated and "Authorization" not in self.headers:
                self._error(401, "GatedRepo", "Access to this repository is restricted")
            else:
                return repo
            return None

        def _commit(self, repo: Repo, revision: str) -> str | None:
            sha = repo.resolve(revision or "main")
            if sha is None:
                self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return sha

        def who(self, *, query: Any, data: bytes) -> None:
            self._send({"type": "user", "name": "tester", "orgs": [], "auth": {"type": "token"}})

        def yaml(self, *, query: Any, data: bytes) -> None:
            self._send({"errors": [], "warnings": []})

        def create(self, *, query: Any, data: bytes) -> None:
            wanted = json.loads(data)
            kind = wanted.get("type", "model") + "s"
            name = f"{wanted.get('organization') or 'tester'}/{wanted['name']}"
            url = f"{hub.url}/{'' if kind == 'models' else kind + '/'}{name}"
            if (kind, name) in hub.repos:
                return self._send({"error": "already there", "url": url}, 409)
            private = bool(wanted.get("private") or wanted.get("visibility") == "private")
            hub.repos[kind, name] = Repo(kind, name, private=private)
            hub.repos[kind, name].commit({}, "initial commit")
            return self._send({"url": url, "name": name, "id": name})

        def upload(self, digest: str, *, query: Any, data: bytes) -> None:
            if hashlib.sha256(data).hexdigest() != digest:
                return self._error(400)
            hub.large[digest] = data
            return self._send({})

        def batch(self, kind: str, name: str, *, query: Any, data: bytes) -> None:
            objects = []
            for one in json.loads(data)["objects"]:
                told: dict[str, Any] = {"oid": one["oid"], "size": one["size"]}
                if one["oid"] not in hub.large:
                    href = f"{hub.url}/large/{one['oid']}"
                    told["actions"] = {"upload": {"href": href, "header": {}}}
                objects.append(told)
            self._send({"transfer": "basic", "objects": objects})

        def info(self, kind: str, name: str, revision: str, *, query: Any, data: bytes) -> None:
            if (repo := self._repo(kind, name)) and (sha := self._commit(repo, revision)):
                files = [
                    {"rfilename": path, **({"size": len(data)} if "blobs" in query else {})}
                    for path, data in sorted(repo.commits[sha].items())
                ]
                self._send(
                    {
                        "_id": "0",
                        "id": name,
                        "author": name.partition("/")[0],
                        "sha": sha,
                        "private": repo.private,
                        "gated": repo.gated,
                        "disabled": False,
                        "downloads": 0,
                        "likes": 0,
                        "tags": [],
                        "lastModified": DATE,
                        "createdAt": DATE,
                        "siblings": files,
                    }
                )

        def refs(self, kind: str, name: str, *, query: Any, data: bytes) -> None:
            if repo := self._repo(kind, name):
                told = {
                    word: [
                        {"name": key, "ref": f"refs/{place}/{key}", "targetCommit": sha}
                        for key, sha in table.items()
                    ]
                    for word, place, table in (
                        ("branches", "heads", repo.branches),
                        ("tags", "tags", repo.tags),
                    )
                }
                self._send({**told, "converts": []})

        def tag(self, kind: str, name: str, revision: str, *, query: Any, data: bytes) -> None:
            if repo := self._repo(kind, name):
                if self.command == "DELETE":
                    repo.tags.pop(revision, None)
                    return self._send({})
                wanted = json.loads(data)["tag"]
                if wanted in repo.tags:
                    return self._send({"error": "Tag reference exists already"}, 409)
                if sha := self._commit(repo, revision):
                    repo.tags[wanted] = sha
                    return self._send({})
            return None

        def branch(self, kind: str, name: str, wanted: str, *, query: Any, data: bytes) -> None:
            if repo := self._repo(kind, name):
                start = json.loads(data or b"{}").get("startingPoint", "main")
                if self.command == "DELETE":
                    repo.branches.pop(wanted, None)
                elif wanted in repo.branches:
                    return self._send({"error": "Reference already exists"}, 409)
                elif sha := self._commit(repo, start):
                    repo.branches[wanted] = sha
                else:
                    return None
                return self._send({})
            return None

        def history(self, kind: str, name: str, revision: str, *, query: Any, data: bytes) -> None:
            if repo := self._repo(kind, name):
                told = {"message": "", "authors": [{"user": "tester"}], "date": DATE}
                commits = [{"id": sha, "title": text, **told} for sha, text in repo.titles.items()]
                self._send(commits[::-1])

        def before(self, kind: str, name: str, revision: str, *, query: Any, data: bytes) -> None:
            if (repo := self._repo(kind, name)) and (sha := self._commit(repo, revision)):
                told = []
                for one in json.loads(data)["files"]:
                    old = repo.commits[sha].get(one["path"])
                    listed = entry(one["path"], old) if old is not None else {}
                    large = is_large(one["path"], one["size"])
                    known = listed.get("lfs", listed).get("oid")
                    mode = "lfs" if large else "regular"
                    told.append(
                        {
                            "path": one["path"],
                            "uploadMode": mode,
                            "shouldIgnore": False,
                            "oid": known,
                        }
                    )
                self._send({"files": told})

        def change(self, kind: str, name: str, branch: str, *, query: Any, data: bytes) -> None:
            repo = self._repo(kind, name)
            sha = self._commit(repo, branch) if repo else None
            if repo is None or sha is None:
                return None
            files, title = dict(repo.commits[sha]), ""
            for line in data.splitlines():
                one = json.loads(line)
                key, value = one["key"], one["value"]
                if key == "header":
                    title, parent = value.get("summary", ""), value.get("parentCommit")
                    if parent and not sha.startswith(parent):
                        return self._send({"error": "A commit has happened since"}, 412)
                elif key == "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                elif key == "lfsFile":
                    if value["oid"] not in hub.large:
                        return self._send({"error": "a large file is missing"}, 400)
                    files[value["path"]] = hub.large[value["oid"]]
                elif key == "deletedFile":
                    files.pop(value["path"], None)
                elif key == "deletedFolder":
                    start = value["path"].rstrip("/") + "/"
                    files = {p: d for p, d in files.items() if not p.startswith(start)}
            new = repo.commit(files, title, branch)
            url = f"{hub.url}/{kind}/{name}/commit/{new}"
            told = {"success": True, "commitOid": new, "commitUrl": url, "hookOutput": ""}
            return self._send(told)

        def tree(
            self, kind: str, name: str, revision: str, below: str, *, query: Any, data: bytes
        ) -> None:
            if (repo := self._repo(kind, name)) and (sha := self._commit(repo, revision)):
                start = below.strip("/") + "/" if below.strip("/") else ""
                inside = {p: d for p, d in repo.commits[sha].items() if p.startswith(start)}
                if start and not inside:
                    return self._error(404, "EntryNotFound", "no such path")
                deep = query.get("recursive", "false").lower() == "true"
                folders, files = set(), []
                for path, content in sorted(inside.items()):
                    *parents, _ = path[len(start) :].split("/")
                    folders |= {
                        start + "/".join(parents[: size + 1])
                        for size in range(len(parents) if deep else min(1, len(parents)))
                    }
                    if deep or not parents:
                        files.append(entry(path, content))
                listed = [
                    {"type": "directory", "path": path, "oid": "0" * 40, "size": 0}
                    for path in sorted(folders)
                ]
                return self._send(listed + files)
            return None

        def paths(self, kind: str, name: str, revision: str, *, query: Any, data: bytes) -> None:
            if (repo := self._repo(kind, name)) and (sha := self._commit(repo, revision)):
                if data[:1] == b"{":
                    wanted = json.loads(data)["paths"]
                else:
                    wanted = urllib.parse.parse_qs(data.decode()).get("paths", [])
                files = repo.commits[sha]
                self._send([entry(path, files[path]) for path in wanted if path in files])

        def file(
            self, kind: str, name: str, revision: str, path: str, *, query: Any, data: bytes
        ) -> None:
            repo = self._repo(kind.rstrip("/"), name)
            sha = self._commit(repo, revision) if repo else None
            if repo is None or sha is None:
                return None
            if path not in repo.commits[sha]:
                return self._error(404, "EntryNotFound", "Entry not found")
            content = repo.commits[sha][path]
            listed = entry(path, content)
            tag = listed.get("lfs", listed)["oid"]
            headers = {"X_Repo_Commit": sha, "ETag": f'"{tag}"', "Accept_Ranges": "bytes"}
            if "lfs" in listed:
                headers |= {"X_Linked_Etag": f'"{tag}"', "X_Linked_Size": str(len(content))}
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
            if wanted:
                low = int(wanted[1])
                high = min(int(wanted[2] or len(content)), len(content) - 1)
                headers["Content_Range"] = f"bytes {low}-{high}/{len(content)}"
                return self._send(content[low : high + 1], 206, **headers)
            return self._send(content, **headers)

    name, one = r"([^/]+/[^/]+)", r"([^/]+)"
    api = rf"/api/(datasets|models)/{name}"
    ROUTES: list[tuple[str, Any]] = [
        ("/api/whoami-v2", Handler.who),
        ("/api/validate-yaml", Handler.yaml),
        ("/api/repos/create", Handler.create),
        ("/large/([0-9a-f]{64})", Handler.upload),
        (r"/(datasets/|)([^/]+/[^/]+?)\.git/info/lfs/objects/batch", Handler.batch),
        (rf"{api}(?:/revision/{one})?", Handler.info),
        (f"{api}/refs", Handler.refs),
        (f"{api}/tag/(.+)", Handler.tag),
        (f"{api}/branch/(.+)", Handler.branch),
        (f"{api}/commits/(.+)", Handler.history),
        (f"{api}/preupload/(.+)", Handler.before),
        (f"{api}/commit/(.+)", Handler.change),
        (f"{api}/tree/{one}(?:/(.+))?", Handler.tree),
        (f"{api}/paths-info/{one}", Handler.paths),
        (rf"/(datasets/|){name}/resolve/{one}/(.+)", Handler.file),
    ]
    return Handler
