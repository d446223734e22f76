"""Resolution of a user's directory: a local path or a URI of a local path."""

from __future__ import annotations

import re
from pathlib import Path

from streamtable.core.errors import Condition, StreamtableError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?")


def local_folder(place: str, what: str) -> Path:
    """Return the absolute path of a directory on this machine.

    Args:
        place: a path, or `file:/path`, `file:///path`, `file://localhost/path`. A path whose first
            part has a colon must begin with `./`.
        what: purpose of the directory, for messages.

    Raises:
        StreamtableError: NOT_YET for another file system or another host; INVALID_OPTION for a
            `file:` URI without an absolute path.
    """
    found = _SCHEME.match(place)
    if found is None:
        return Path(place).absolute()
    scheme, host = found[1].lower(), found[2] or ""
    if scheme in ("s3", "s3n") and host:
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"{what} at {place}",
            hint=f"write s3a{place[len(scheme) :]}",
        )
    if scheme != "file" or host.lower() not in ("", "localhost"):
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"{what} at {place}",
            hint="use a local path, or hdfs://, s3a://, abfss:// or gs:// with a host or bucket; ./"
            " before a name with a colon",
        )
    path = Path("/" + place[found.end() :].lstrip("/"))
    if not place[found.end() :].startswith("/"):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            option=what,
            value=place,
            expected="an absolute path, such as file:/var/lib/job",
        )
    return path
