"""Names and formats of Flink CDC's options, usable without a driver for MySQL."""

from __future__ import annotations

from enum import Enum

#: Supported JDBC properties with their allowed values. None: any value.
JDBC_PROPERTIES: dict[str, tuple[str, ...] | None] = {
    "allowPublicKeyRetrieval": ("true",),
    "characterEncoding": ("utf-8", "utf8"),
    "connectTimeout": None,
    "socketTimeout": None,
    "sslMode": ("disabled", "preferred", "required"),
    "useSSL": ("true", "false"),
    "useUnicode": ("true",),
    "zeroDateTimeBehavior": ("convert_to_null", "converttonull"),
}


#: The end of a hint if a job cannot continue from its checkpoint.
ANEW = (
    "begin anew with another --checkpoint, and write to new topics or tables, because obsolete keys"
    " stay in the old ones of upsert sinks"
)


#: Why a table WITH SYSTEM VERSIONING of MariaDB is refused.
VERSIONED = (
    "it is system-versioned, and the binlog has its history among its rows; leave it out"
    " ('tables.exclude' of an ingestion job)"
)


class StartupMode(Enum):
    """Start position of a first run; Flink CDC's names."""

    INITIAL = "initial"
    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    SPECIFIC = "specific-offset"
    TIMESTAMP = "timestamp"
    SNAPSHOT = "snapshot"

    @property
    def has_snapshot(self) -> bool:
        """Whether a snapshot of the existing rows is read first."""
        return self in (StartupMode.INITIAL, StartupMode.SNAPSHOT)


class BinaryMode(Enum):
    """Text encoding of BINARY, VARBINARY, BLOB and BIT; Debezium's names."""

    BYTES = "bytes"
    NONE = "none"
    BASE64 = "base64"
    BASE64_URL_SAFE = "base64-url-safe"
    HEX = "hex"


def server_ids(text: str) -> tuple[int, int]:
    """Parse `5400` or `5400-5408`.

    Raises:
        ValueError: the text has another form, or an id is outside 1 to 4294967295.
    """
    first, _, last = text.strip().partition("-")
    low, high = int(first), int(last or first)
    if not 1 <= low <= high <= 4_294_967_295:
        raise ValueError(text)
    return low, high
