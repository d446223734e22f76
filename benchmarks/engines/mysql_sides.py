"""The two sides of `mysql.py`: a YAML job of ours, and Debezium's embedded engine.

Debezium's jars are fetched once, by `benchmarks/mysql/ivy.xml`, to the cache folder.
`benchmarks/mysql/Debezium.java` runs the engine and writes its events to Kafka.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mariadb import PASSWORD, USER

from streamtable.jvm.install.cache import cache_dir
from streamtable.jvm.install.tools import java_tool, pyspark_jars

HERE = Path(__file__).parents[1] / "mysql"
DEBEZIUM = "3.3.0.Final"
DATABASE = "bench"
STREAMTABLE = "streamtable"
#: Side -> its further settings of the engine.
_POLLS: dict[str, dict[str, str]] = {
    "Debezium": {},
    "Debezium, polls each 10 ms": {"poll.interval.ms": "10"},
}
SIDES = (STREAMTABLE, *_POLLS)
_STOP_S = 120.0

_JOB = f"""\
source:
  type: mysql
  hostname: 127.0.0.1
  port: ${{port}}
  username: {USER}
  password: {PASSWORD}
  tables: {DATABASE}.\\.*
  server-id: 8601-8604
sink:
  type: upsert-kafka
  properties.bootstrap.servers: ${{servers}}
route:
  - source-table: {DATABASE}.\\.*
    sink-table: bench.{DATABASE}.<>
    replace-symbol: <>
pipeline:
  parallelism: 2
"""


@dataclass(frozen=True)
class Side:
    """One side, which goes on where it stopped if it is started again in the same folder.

    Attributes:
        name: a name of `SIDES`.
        folder: a folder of its own, for its settings and its position.
        port: the port of the database server.
        servers: the brokers.
    """

    name: str
    folder: Path
    port: int
    servers: str

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run the side in a context; it is stopped by SIGTERM, and then has kept its position."""
        command = self._ours() if self.name == STREAMTABLE else self._debezium()
        with (self.folder / "out.log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            process.wait(_STOP_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def log(self) -> str:
        """Return the end of the side's output."""
        return (self.folder / "out.log").read_text(errors="replace")[-3000:]

    def _ours(self) -> Sequence[str]:
        job = self.folder / "job.yaml"
        job.write_text(_JOB)
        command = [sys.executable, "-m", "streamtable", "run", str(job)]
        command += ["--var", f"port={self.port}", "--var", f"servers={self.servers}"]
        return [*command, "--checkpoint", str(self.folder / "checkpoint")]

    def _debezium(self) -> Sequence[str]:
        engine = {
            "name": "bench",
            "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
            "offset.storage.file.filename": str(self.folder / "offsets"),
            "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
            "schema.history.internal.file.filename": str(self.folder / "history"),
            "topic.prefix": "bench",
            "database.hostname": "127.0.0.1",
            "database.port": str(self.port),
            "database.user": USER,
            "database.password": PASSWORD,
            "database.server.id": "8700",
            "database.ssl.mode": "disable",
            "database.include.list": DATABASE,
            "include.schema.changes": "false",
            "snapshot.locking.mode": "none",
            "snapshot.max.threads": "2",
            "decimal.handling.mode": "string",
            "converter.schemas.enable": "false",
            # Rows and tombstones instead of change events, as our topics hold.
            "transforms": "unwrap",
            "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
            "transforms.unwrap.delete.tombstone.handling.mode": "tombstone",
            **_POLLS[self.name],
        }
        files = [
            _properties(self.folder / "engine.properties", engine),
            _properties(self.folder / "producer.properties", {"bootstrap.servers": self.servers}),
        ]
        path = f"{HERE}{os.pathsep}{_compiled()}{os.pathsep}{_jars()}"
        return [str(java_tool("java")), "-Xmx1g", "-cp", path, "Debezium", *files]


def _properties(file: Path, settings: Mapping[str, str]) -> str:
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return str(file)


def _jars() -> str:
    """Return Debezium's jars as a class path; fetch them at first use."""
    home = cache_dir() / f"benchmark-debezium-{DEBEZIUM}"
    if not (home / "complete").exists():
        (ivy,) = pyspark_jars().glob("ivy-*.jar")
        to = f"{home}/jars/[artifact]-[revision](-[classifier]).[ext]"
        command: list[str | Path] = [java_tool("java"), "-jar", ivy, "-cache", home / "ivy"]
        command += ["-m2compatible", "-ivy", HERE / "ivy.xml", "-confs", "default"]
        command += ["-types", "jar", "bundle", "-retrieve", to]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (home / "complete").touch()
    return f"{home}/jars/*"


def _compiled() -> Path:
    """Return the folder of the compiled runner."""
    out = cache_dir() / f"benchmark-debezium-{DEBEZIUM}" / "runner"
    source = HERE / "Debezium.java"
    command = [str(java_tool("javac")), "-cp", _jars(), "-d", str(out), str(source)]
    subprocess.run(command, check=True)
    return out
