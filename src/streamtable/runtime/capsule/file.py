"""The file of a capsule: a zip file with `capsule.json`, `script.sql` and records as JSON lines."""

from __future__ import annotations

import base64
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from streamtable.connector_api.stored import RECORD
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.proof.commits import Commit

#: Version of the file. Increase it with every change that earlier versions cannot read.
LAYOUT = 1

_FACTS, _SCRIPT, _SINK, _INPUTS = "capsule.json", "script.sql", "sink.jsonl", "inputs"


@dataclass(frozen=True)
class RawRecord:
    """A record that is not decoded.

    Attributes:
        topic: its topic.
        partition: its partition.
        offset: its offset.
        timestamp: its time in epoch milliseconds.
        timestamp_type: 0 for the time of the producer, 1 for the time of the broker.
        key: the bytes of the key; None for no key.
        value: the bytes of the value; None for a tombstone.
        headers: names and values, in order; None for no headers.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] | None

    def line(self) -> str:
        """Return the record as JSON with the names of `RECORD`; bytes in Base64."""
        headers = None
        if self.headers is not None:
            headers = [{"key": name, "value": _text(value)} for name, value in self.headers]
        values = (
            *(self.topic, self.partition, self.offset, self.timestamp, self.timestamp_type),
            *(_text(self.key), _text(self.value), headers),
        )
        return json.dumps(dict(zip(RECORD, values, strict=True)))

    @classmethod
    def of_line(cls, line: str) -> Self:
        """Return the record of a line."""
        found = json.loads(line)
        headers = found["headers"]
        if headers is not None:
            headers = [(header["key"], _bytes(header["value"])) for header in headers]
        return cls(
            found["topic"],
            found["partition"],
            found["offset"],
            found["timestamp"],
            found["timestampType"],
            _bytes(found["key"]),
            _bytes(found["value"]),
            headers,
        )


@dataclass(frozen=True)
class Capsule:
    """A differing key and everything that its comparison needs.

    Attributes:
        script: the script, without secrets.
        secrets: the variables of the script that stand for secrets, each with its option.
        settings: the values of `--set`, without secrets.
        insert: place of the INSERT in the script, from 0.
        query: name of the query.
        table: the table that it writes.
        key: the key as JSON; the whole row for a sink without a key.
        commit: the commit of the comparison.
        expected: the row of the batch answer as JSON; None for no row.
        found: the row of the sink; None for no row.
        written: the newest record of the key in the sink, and the batch that wrote it.
        checkpoint: the job, and Kafka's ids of the topics that it has read.
        versions: versions of streamtable and Spark.
        inputs: the input records of each table.
        target: the records of the key in the sink.
    """

    script: str
    secrets: Mapping[str, str]
    settings: Mapping[str, str]
    insert: int
    query: str
    table: str
    key: str
    commit: Commit
    expected: str | None
    found: str | None
    written: Mapping[str, Any] | None
    checkpoint: Mapping[str, Any]
    versions: Mapping[str, str]
    inputs: Mapping[str, Sequence[RawRecord]]
    target: Sequence[RawRecord]

    def write(self, path: Path) -> None:
        """Write the file; an existing file is replaced."""
        apart = ("script", "inputs", "target")
        facts = {name: value for name, value in asdict(self).items() if name not in apart}
        tables = list(self.inputs)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(
                _FACTS, json.dumps({"layout": LAYOUT, "tables": tables, **facts}, indent=2)
            )
            file.writestr(_SCRIPT, self.script)
            file.writestr(_SINK, _lines(self.target))
            for number, records in enumerate(self.inputs.values()):
                file.writestr(f"{_INPUTS}/{number}.jsonl", _lines(records))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file.

        Raises:
            StreamtableError: CAPSULE_UNREADABLE.
        """
        try:
            with zipfile.ZipFile(path) as file:
                return cls._of(file)
        except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
            raise StreamtableError(
                Condition.CAPSULE_UNREADABLE,
                path=path,
                reason=str(error) or type(error).__name__,
                hint="pass a file of `streamtable prove --capsule`",
            ) from error

    @classmethod
    def _of(cls, file: zipfile.ZipFile) -> Self:
        facts = json.loads(file.read(_FACTS))
        layout = facts.pop("layout")
        if layout != LAYOUT:
            msg = f"its layout is {layout}; this version of streamtable reads layout {LAYOUT}"
            raise ValueError(msg)
        commit = facts.pop("commit")
        positions = [(first, last) for first, last in commit.pop("positions")]
        tables = facts.pop("tables")
        return cls(
            **facts,
            commit=Commit(positions=positions, **commit),
            script=file.read(_SCRIPT).decode(),
            inputs={t: _records(file, f"{_INPUTS}/{n}.jsonl") for n, t in enumerate(tables)},
            target=_records(file, _SINK),
        )


def _lines(records: Iterable[RawRecord]) -> str:
    return "".join(f"{record.line()}\n" for record in records)


def _records(file: zipfile.ZipFile, name: str) -> list[RawRecord]:
    return [RawRecord.of_line(line) for line in file.read(name).decode().splitlines()]


def _text(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)
