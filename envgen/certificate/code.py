"""Which code certifies: verdicts of other checks, or of another sandbox, are not these."""

import hashlib
from functools import cache
from importlib.resources import files

PACKAGES = ("envgen.certificate", "sandbox")


@cache
def code_digest() -> str:
    """Return the SHA-256 of the checks and of the sandbox that they run in."""
    sources = {
        f"{package}/{entry.name}": entry.read_bytes()
        for package in PACKAGES
        for entry in files(package).iterdir()
        if entry.name.endswith(".py")
    }
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(hashlib.sha256(name.encode() + b"\0" + sources[name]).digest())
    return digest.hexdigest()
