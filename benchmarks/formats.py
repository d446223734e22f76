"""Decode and encode rates of formats, as ratios to Flink's: `make bench-formats`.

One run measures both sides one after the other, and then in reverse order. Both sides use the same
bytes and one thread. `benchmarks/formats/Ours.java` calls our codecs in the same way as Spark's
generated code. `Flink.java` calls the schemas that Flink's own factories create. Neither engine
itself runs. The result of a side is its best round, by the CPU time of its thread.

Flink's jars are copied once, from its wheel and its avro-confluent jar, to the cache folder.
`--flink CLASSPATH` sets other jars. Results are written to `benchmarks/results`, with machine and
versions.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import struct
import subprocess
import sys
import tempfile
import threading
import zipfile
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from streamtable.connector_api.format import ChangelogFormat
from streamtable.core import types as t
from streamtable.core.codec import Codec
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.registry import FORMATS
from streamtable.jvm.install.cache import cache_dir
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.jars import connector_jars
from streamtable.jvm.install.tools import java_tool, pyspark_jars

HERE = Path(__file__).parent
FLINK = "2.2.0"
ROWS = 5_000
COLUMNS = (
    Field("id", t.BIGINT),
    Field("name", t.STRING),
    Field("region", t.STRING),
    Field("amount", t.decimal(10, 2)),
    Field("price", t.DOUBLE),
    Field("active", t.BOOLEAN),
    Field("at", t.timestamp(3)),
    Field("tags", t.array(t.STRING)),
    Field("place", t.row(Field("zip", t.INT), Field("city", t.STRING))),
)
#: The measured formats. Flink has no json-confluent and no protobuf-confluent, protobuf takes no
#: DECIMAL, and events of debezium-avro-confluent are not JSON.
MEASURED = {
    name: FORMATS[name]
    for name in (
        *("json", "avro", "avro-confluent", "csv", "raw"),
        *("debezium-json", "canal-json", "maxwell-json", "ogg-json"),
    )
}
#: JVM options that Spark sets itself; Spark's rows cannot be created on Java 17 without them.
OPENED = [
    option
    for package in ("java.nio", "java.lang", "java.util", "sun.nio.ch")
    for option in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")
]


def rows() -> list[dict[str, Any]]:
    """Return rows of typical width, the same in every run."""
    source = random.Random(1)
    return [
        {
            "id": source.randrange(2**40),
            "name": f"user {source.randrange(10**6)} of many",
            "region": source.choice(("Europe", "Asia", "Am\u00e9rica", "Africa")),
            "amount": source.randrange(10**7) / 100,
            "price": source.random() * 1000,
            "active": source.random() < 0.5,
            "at": f"2026-01-{source.randrange(1, 29):02} 12:34:56.{source.randrange(1000):03}",
            "tags": [f"tag{source.randrange(100)}" for _ in range(source.randrange(4))],
            "place": {"zip": source.randrange(10**5), "city": f"city {source.randrange(1000)}"},
        }
        for _ in range(ROWS)
    ]


def events(name: str, made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return an update event for every row, in the format of the CDC tool."""
    found = []
    for row in made:
        old = {**row, "amount": 1.5, "name": "somebody else"}
        changed = {"amount": 1.5, "name": "somebody else"}
        told: dict[str, dict[str, Any]] = {
            "debezium-json": {"before": old, "after": row, "op": "u", "ts_ms": 1},
            "canal-json": {"data": [row], "old": [changed], "type": "UPDATE", "table": "t"},
            "maxwell-json": {"data": row, "old": changed, "type": "update", "table": "t"},
            "ogg-json": {"before": old, "after": row, "op_type": "U", "table": "t"},
        }
        found.append(told[name])
    return found


class Registry(BaseHTTPRequestHandler):
    """A schema registry with a single schema: the last registered one, with id 1."""

    schema = ""

    def do_GET(self) -> None:
        """Return a schema by its id."""
        self._answer({"schema": Registry.schema})

    def do_POST(self) -> None:
        """Register a schema."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Registry.schema = json.loads(body)["schema"]
        self._answer({"id": 1})

    def _answer(self, found: dict[str, Any]) -> None:
        data = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def spec(folder: Path, registry: str) -> list[dict[str, Any]]:
    """Return the measurements for both sides; write files of records where Python can."""
    made = rows()
    write(folder / "rows", [json.dumps(row).encode() for row in made])
    tests = []
    for name, found in MEASURED.items():
        columns = COLUMNS[1:2] if name == "raw" else COLUMNS
        options = {"url": registry, "subject": "s"} if name == "avro-confluent" else {}
        settings = found.options.read({k: Given(v) for k, v in options.items()}, "t")
        records = folder / name
        test: dict[str, Any] = {
            "format": name,
            "type": t.row(*columns).with_nullable(False).sql(),
            "options": options,
            "records": str(records),
            "rows": str(folder / "rows"),
            "changes": isinstance(found, ChangelogFormat),
        }
        if isinstance(found, ChangelogFormat):
            test["decoder"] = plain(found.change_decoder(columns, (), settings))
            test["encoder"] = plain(found.change_encoder(columns, settings))
            write(records, [json.dumps(event).encode() for event in events(name, made)])
        else:
            test["decoder"] = plain(found.decoder(columns, settings))
            test["encoder"] = plain(found.encoder(columns, settings))
            no_options = FORMATS["json"].options.read({}, "t")
            test["from"] = plain(FORMATS["json"].decoder(columns, no_options))
        tests.append(test)
    return tests


def plain(codec: Codec) -> dict[str, Any]:
    """Return a codec as JSON data."""
    return {
        "class": codec.java_class,
        "ddl": codec.schema_ddl,
        "parameters": {**codec.parameters, **codec.secrets},
    }


def write(file: Path, records: list[bytes]) -> None:
    """Write records, each after its length."""
    file.write_bytes(b"".join(struct.pack(">i", len(r)) + r for r in records))


def flink_jars() -> str:
    """Return Flink's jars as a class path; fetch them at first use."""
    home = cache_dir() / f"benchmark-flink-{FLINK}"
    if not (home / "complete").exists():
        home.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*fetch, "--dest", home, f"apache-flink-libraries=={FLINK}"], check=True)
        (wheel,) = home.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("pyflink/lib/"):
                    archive.extract(name, home)
        wheel.unlink()
        (ivy,) = pyspark_jars().glob("ivy-*.jar")
        module = ("org.apache.flink", "flink-sql-avro-confluent-registry", FLINK)
        to = f"{home}/pyflink/lib/[artifact]-[revision].[ext]"
        command: list[str | Path] = [java_tool("java"), "-jar", ivy, "-cache", home / "ivy"]
        more = ["-m2compatible", "-dependency", *module, "-confs", "default", "-retrieve", to]
        subprocess.run([*command, *more], check=True, stdout=subprocess.DEVNULL)
        (home / "complete").touch()
    return f"{home}/pyflink/lib/*"


def compiled(name: str, class_path: str, folder: Path) -> str:
    """Compile the harness of one side and return its class path."""
    out = folder / name
    sources = [HERE / "formats" / "Records.java", HERE / "formats" / f"{name}.java"]
    javac: list[str | Path] = [java_tool("javac"), "-nowarn", "-proc:none", "-cp", class_path]
    javac += ["-d", out, *sources]
    subprocess.run(javac, check=True, stderr=subprocess.DEVNULL)
    return f"{out}{os.pathsep}{class_path}"


def measured(name: str, class_path: str, *arguments: str) -> dict[tuple[str, str], int]:
    """Measure one side in its own JVM: (format, direction) -> records per second."""
    command: list[str | Path] = [java_tool("java"), "-Xmx1g", "-XX:+UseParallelGC", *OPENED]
    command += ["-cp", class_path, name, *arguments]
    run = subprocess.run(command, check=False, text=True, capture_output=True)
    if run.returncode:
        sys.exit(f"{name} failed: {run.stderr[-2000:]}")
    lines = [line.split("\t") for line in run.stdout.splitlines() if line.count("\t") == 2]
    return {(found, direction): int(rate) for found, direction, rate in lines}


def main() -> None:
    """Measure both sides; print and save the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--flink", help="class path of Flink's jars")
    parser.add_argument("--seconds", type=float, default=0.5, help="of warm-up, and two rounds")
    parser.add_argument("--rounds", type=int, default=2, help="JVMs of each side")
    chosen = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tests = folder / "tests.json"
        made = spec(folder, f"http://127.0.0.1:{server.server_port}")
        tests.write_text(json.dumps(made))
        jars = [operators_jar(), *connector_jars(), pyspark_jars() / "*"]
        ours = compiled("Ours", os.pathsep.join(map(str, jars)), folder)
        flink = compiled("Flink", chosen.flink or flink_jars(), folder)
        measured("Ours", ours, str(tests), "0", "write")
        best: dict[str, dict[tuple[str, str], int]] = {"Ours": {}, "Flink": {}}
        sides = [("Ours", ours), ("Flink", flink)]
        for number in range(chosen.rounds):
            for name, class_path in sides if number % 2 == 0 else reversed(sides):
                found = measured(name, class_path, str(tests), str(chosen.seconds), "run")
                for key, rate in found.items():
                    best[name][key] = max(rate, best[name].get(key, 0))
    server.shutdown()
    lacking = {(f, d) for f in MEASURED for d in ("decode", "encode")} - best["Ours"].keys()
    lacking |= best["Ours"].keys() - best["Flink"].keys()
    if lacking:
        sys.exit(f"no figures for {sorted(lacking)}")
    text = report(best["Ours"], best["Flink"])
    sys.stdout.write(text)
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "formats.md").write_text(text, encoding="utf-8")


def report(ours: dict[tuple[str, str], int], flink: dict[tuple[str, str], int]) -> str:
    """Format a table in records per second, with the system load during the run."""
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    java = subprocess.run(
        [java_tool("java"), "-version"], text=True, capture_output=True, check=True
    )
    head = (
        "# Formats: records per second against Flink's\n\n"
        f"`python benchmarks/formats.py`, {date.today().isoformat()}. Flink {FLINK};"
        f" {platform.system()} {platform.machine()}, {os.cpu_count()} cores, one thread a side;"
        f" {java.stderr.splitlines()[0]}; load at the end {load}.\n\n"
        "| format | decode, ours | Flink | ratio | encode, ours | Flink | ratio |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    lines = []
    for name in MEASURED:
        cells = []
        for direction in ("decode", "encode"):
            one, other = ours[name, direction], flink[name, direction]
            cells += [f"{one:,}", f"{other:,}", f"**{one / other:.2f}**"]
        lines.append(f"| {name} | {' | '.join(cells)} |\n")
    return head + "".join(lines)


if __name__ == "__main__":
    main()
