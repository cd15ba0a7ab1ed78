"""What a stranger's manifest may say."""

import json

import pytest

from envgen.publish.manifest import KIND, parse
from memory.shards import digest_of
from spadekit.errors import BadInput


@pytest.mark.parametrize(
    "name",
    ["environments/../../../../dev/zero", "/etc/passwd", "a//b", ".git/config", "a/../b", "a\\b"],
)
def test_a_file_outside_of_the_release_is_refused(name: str) -> None:
    file = {"sha256": "0" * 64, "bytes": 1, "rows": 1}
    body = {"kind": KIND, "schema": 1, "files": {name: file}}
    body |= {
        "tag": "v1",
        "content": "c",
        "spadework": "0",
        "created": "",
        "shards": {},
        "checks": "",
    }
    text = json.dumps(body | {"digest": digest_of(body)})
    with pytest.raises(BadInput, match="names the file"):
        parse(text.encode(), "here")
