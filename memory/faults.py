"""What storage says when it fails, in one line with the next step."""

import re

# What the text of an error holds -> (what it means, what to do). The first match counts.
_CAUSES = (
    (
        r"No space left|File too large|quota exceeded|Disk quota|StorageFull",
        "the disk is full",
        "make room and run the command again: what was published stays as it is",
    ),
    (
        r"Read-only file system|Permission denied|Operation not permitted",
        "it cannot be written",
        "let its owner run the command, or `spadework memory copy` it to a place of yours",
    ),
    (r"NoSuchBucket", "there is no such bucket", "make it, or mend the address"),
    (
        r"InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|AccessDenied"
        r"|403 Forbidden|401 Unauthorized|status: 403|status: 401|Unauthenticated|PermissionDenied",
        "access is refused",
        "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do",
    ),
    (
        r"169\.254\.169\.254|CredentialsNotLoaded|Missing credential|instance metadata",
        "there are no credentials",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    (
        r"error sending request|dns error|[Cc]onnection refused|timed out|connect error",
        "it cannot be reached",
        "check the network, AWS_ENDPOINT_URL and AWS_REGION",
    ),
    (
        r"builder error|URL scheme is not allowed",
        "its endpoint is plain http",
        "set AWS_ALLOW_HTTP=true if that is meant",
    ),
)
_LANCE = re.compile(
    r"lance error|LanceError|^Invalid input|does not exist in schema|Table '?\w+'? was not found"
    r"|Generic (S3|GCS|MicrosoftAzure|LocalFileSystem) error",
    re.MULTILINE,
)


def is_storage(error: BaseException) -> bool:
    """Say whether an error comes from files, object storage or LanceDB, which has no types of its own."""
    if isinstance(error, OSError) or type(error).__name__ == "PanicException":
        return True
    if isinstance(error, RuntimeError | ValueError | KeyError):
        return bool(_LANCE.search(str(error)))
    return type(error).__module__.startswith("obstore.")


def cause(error: BaseException) -> str:
    """Return what an error means, "" when its text says nothing that is known."""
    text = str(error)
    return next((meaning for pattern, meaning, _ in _CAUSES if re.search(pattern, text)), "")


def explain(error: BaseException, place: str) -> str:
    """Return one line: the place, what is wrong with it, what to do."""
    text = str(error)
    for pattern, meaning, step in _CAUSES:
        if found := re.search(pattern, text):
            return f"{place}: {meaning} ({found.group()}); {step}"
    return f"{place}: cannot be used ({_short(text)})"


def damaged(error: BaseException, place: str) -> str:
    """Return one line on tables that cannot be read."""
    return (
        f"{place}: its tables are damaged ({_short(str(error))}); `spadework memory rebuild` makes "
        "them again from shards and logs"
    )


def _short(text: str) -> str:
    line = " ".join(text.replace("lance error: ", "").split("\n\n")[0].split())
    return line if len(line) <= 120 else line[:117] + "..."
