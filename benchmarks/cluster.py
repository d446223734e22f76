"""Figures for sizing a cluster, as Markdown: `python -m benchmarks.cluster`.

`docs/operate/scale.md` has them.

- The page views job on a standalone cluster: one worker with one core, then with two. The broker
  and the driver share the machine, so the CPU seconds of the worker count more than the ratio.
- A count per key over millions of keys, with a driver of 2 GB: records/s, memory and disk.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import Template

from tests.integration.faults.cluster import Cluster

from benchmarks.harness import processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.filling import fill
from benchmarks.harness.topics import create
from benchmarks.workloads.records import Record
from benchmarks.workloads.workloads import WORKLOADS
from streamtable.jvm.install.class_archive import java_options

_TIMEOUT_S = 3600.0
_WORKER = "127.0.0.2"

_COUNT = """
CREATE TABLE events (id BIGINT, v INT) WITH (
  'connector' = 'kafka', 'topic' = 'events', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json'
);
CREATE TABLE counts (id BIGINT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'counts', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO counts SELECT id, COUNT(*) FROM events GROUP BY id;
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=4_000_000, help="of the cluster's job")
    parser.add_argument("--keys", type=int, default=20_000_000, help="0 leaves the second part out")
    arguments = parser.parse_args()
    print(processes.machine())
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        if arguments.records:
            _scaling(arguments.records, Path(scratch))
        if arguments.keys:
            _many_keys(arguments.keys, Path(scratch))


def _scaling(records: int, scratch: Path) -> None:
    """Measure a fifth of the records, then all: the difference leaves out what a start costs."""
    print("\n| Cores | records/s | CPU s per million records: executor | driver |")
    print("|---|---|---|---|")
    for cores in (1, 2):
        small = _on_cluster(records // 5, cores, scratch)
        large = _on_cluster(records, cores, scratch)
        millions = (records - records // 5) / 1e6
        seconds, executor, driver = (b - a for a, b in zip(small, large, strict=True))
        speed = f"{millions * 1e6 / seconds:,.0f}"
        print(
            f"| {cores} | {speed} | {executor / millions:.2f} | {driver / millions:.2f} |",
            flush=True,
        )


def _on_cluster(records: int, cores: int, scratch: Path) -> tuple[float, float, float]:
    """Return seconds, CPU seconds of the executor, and CPU seconds of the driver."""
    job = WORKLOADS["pageviews"]
    folder = scratch / f"{records}-{cores}"
    with _filled(folder, job.sources, job.records(records / 5_000_000)) as servers:
        create(servers, job.sinks)
        with Cluster(folder / "spark", [_WORKER], cores=cores) as cluster:
            more = {
                "spark.executor.memory": "900m",
                "spark.executor.extraJavaOptions": java_options(),
                "parallelism.default": str(cores),
            }
            used = _run(job.script, servers, folder, cluster.url, more)
            worker = _ended_children(cluster.workers[0].pid)
    return _seconds(folder), worker, used.cpu_s


def _ended_children(pid: int) -> float:
    """Return the CPU seconds of the ended child processes of a worker: its executors."""
    deadline = time.monotonic() + 30
    while True:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[13]) + int(fields[14])
        if ticks or time.monotonic() > deadline:
            return ticks / os.sysconf("SC_CLK_TCK")
        time.sleep(0.5)


def _many_keys(keys: int, scratch: Path) -> None:
    folder = scratch / "keys"
    with _filled(folder, ("events",), _events(keys)) as servers:
        create(servers, ("counts",))
        more = {"spark.driver.memory": "2g", "parallelism.default": "2"}
        used = _run(_COUNT, servers, folder, "local[2]", more)
        seconds = _seconds(folder)
    print(f"\n{keys:,} keys: {keys / seconds:,.0f} records/s, {used.cpu_s:,.0f} CPU s,")
    print(f"peak memory {used.peak_mb:,.0f} MB, checkpoint {used.disk_mb:,.0f} MB", flush=True)


@contextmanager
def _filled(folder: Path, topics: Sequence[str], records: Iterator[Record]) -> Iterator[str]:
    """Run a broker whose topics have the records; yield its address."""
    folder.mkdir()
    quiet = {"log.retention.check.interval.ms": "86400000", "log.cleaner.enable": "false"}
    with broker(folder / "broker", quiet) as kafka:
        create(kafka.bootstrap_servers, topics)
        fill(kafka.bootstrap_servers, records)
        yield kafka.bootstrap_servers


def _events(keys: int) -> Iterator[Record]:
    """Yield one record per key, in an order without locality."""
    step = 7_368_787  # a prime, so that all keys occur
    for i in range(keys):
        yield "events", None, b'{"id": %d, "v": 1}' % (i * step % keys)


def _run(
    script: str, servers: str, folder: Path, master: str, settings: Mapping[str, str]
) -> processes.Used:
    file = folder / "job.sql"
    file.write_text(Template(script).substitute(servers=servers, end=""))
    checkpoint = folder / "checkpoint"
    command = [sys.executable, "-m", "streamtable", "run", str(file), "--bounded"]
    command += ["--checkpoint", str(checkpoint), "--master", master]
    for key, value in {"table.local-time-zone": "UTC", **settings}.items():
        command += ["--set", f"{key}={value}"]
    return processes.run(command, {}, folder / "out.log", _TIMEOUT_S, checkpoint)


def _seconds(folder: Path) -> float:
    """Return the seconds from the start of the source to the last commit."""
    checkpoint = folder / "checkpoint"
    starts = [file.stat().st_mtime for file in checkpoint.glob("*/sources/*/0")]
    commits = [file.stat().st_mtime for file in checkpoint.glob("*/commits/[0-9]*")]
    return max(commits) - min(starts)


if __name__ == "__main__":
    main()
