"""Limits of a run of many short micro-batches: state files, their bytes, and memory.

`make soak` runs the test for an hour, with ten batches a second if the machine is fast enough: more
batches than in eight hours with one a second. `STREAMTABLE_SOAK_S` sets another time, in seconds.
`STREAMTABLE_SOAK_FIGURES` names a file that gets a line of figures with each sample.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import which
from threading import Event, Thread

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.jobs.support import Cli, write

from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (id BIGINT, g INT) WITH (
  'connector' = 'kafka', 'topic' = 'ids', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE counted (g INT, n BIGINT, hi BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'counted',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO counted SELECT g, COUNT(*), MAX(id) FROM t GROUP BY g;
"""
#: This number of keys makes about a megabyte of state.
GROUPS = 10_000
HEAP_MB = 512

#: Versions of state that may always exist: the ten that are kept, the changes since the snapshot
#: before them, and a few that are deleted together.
VERSIONS = 40
#: Younger versions than this may exist besides: some rounds of maintenance on a busy machine.
YOUNG_S = 20.0
#: State files of both partitions for each version, with their checksums; and the bytes of all state
#: files.
FILES_PER_VERSION = 8
STATE_BYTES = 30_000_000
#: Memory outside the heap: code, classes, threads, and RocksDB's budget of 512 MB.
OUTSIDE_HEAP_MB = 900
#: Growth limit of a process after its first third of batches, when it is warm.
GROWTH_MB = 150
WARM_S = 600

START_S = 300
SAMPLE_S = 1.0


@dataclass(frozen=True)
class Figures:
    """Figures of a job at a moment.

    Attributes:
        seconds: time since the first batch.
        batch: number of the newest committed batch; -1 before the first.
        versions: number of versions of state in the partition that has most.
        resident_mb: resident memory of the JVM.
    """

    seconds: float
    batch: int
    versions: int
    files: int
    state_bytes: int
    resident_mb: float


def measured(query: Path, jvm: int, since: float) -> Figures:
    """Measure the current figures, while the job creates and deletes files."""
    sizes: dict[Path, int] = {}
    for path in (query / "state").rglob("*"):
        with suppress(OSError):
            if path.is_file():
                sizes[path] = path.stat().st_size
    versions: dict[Path, set[str]] = {}
    for path in sizes:
        if path.suffix in (".changelog", ".zip"):
            versions.setdefault(path.parent, set()).add(path.name.partition("_")[0])
    commits = (int(p.name) for p in (query / "commits").glob("*") if p.name.isdigit())
    status = Path(f"/proc/{jvm}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return Figures(
        seconds=round(time.monotonic() - since, 1),
        batch=max(commits, default=-1),
        versions=max((len(found) for found in versions.values()), default=0),
        files=len(sizes),
        state_bytes=sum(sizes.values()),
        resident_mb=int(resident.split()[1]) / 1024,
    )


def jvm_of(process: int) -> int:
    """Return the process id of Spark's JVM, a child of the command."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # a thread or a child that has just ended
            for child in children.read_text().split():
                if Path(f"/proc/{child}/exe").resolve().name == "java":
                    return int(child)
    message = "there is no JVM"
    raise AssertionError(message)


@contextmanager
def feeding(servers: str) -> Iterator[None]:
    """Produce rows for ten batches a second until the block ends."""
    done = Event()

    def feed() -> None:
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})
        first = 0
        while not done.wait(0.1):
            for i in range(first, first + 40):
                producer.produce("ids", json.dumps({"id": i, "g": i * 7 % GROUPS}))
            producer.poll(0)
            first += 40
        producer.flush(60)

    thread = Thread(target=feed)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize(
    ("batches", "seconds"),
    [
        pytest.param(115, 45, id="short"),
        pytest.param(
            0, int(os.environ.get("STREAMTABLE_SOAK_S", "3600")), id="long", marks=pytest.mark.soak
        ),
    ],
)
def test_state_files_and_memory_of_a_long_run_are_bounded(
    batches: int, seconds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job also starts no process for the permissions of its files."""
    log = _logged_chmod(tmp_path / "bin", monkeypatch)
    with Broker(tmp_path / "broker") as broker:
        servers = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic("ids", num_partitions=2)])["ids"].result(60)
        job = Cli.start(
            *("run", write(tmp_path / "job.sql", SCRIPT), "--var", f"servers={servers}"),
            *("--checkpoint", str(tmp_path / "c"), "--master", "local[2]"),
            *("--set", "execution.mode=micro-batch", "--set", "parallelism.default=2"),
            *("--set", "execution.micro-batch.max-records=40"),
            *("--set", f"spark.driver.memory={HEAP_MB}m"),
        )
        with feeding(servers):
            samples = list(_watched(job, tmp_path / "c" / "counted", batches, seconds))
        job.kill()
    assert "/state/" not in log.read_text()
    if seconds > WARM_S:
        warm = [s.resident_mb for s in samples if s.batch >= samples[-1].batch / 3]
        assert warm[-1] - warm[0] < GROWTH_MB


def _logged_chmod(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let processes find a `chmod` that also logs its arguments; return the log."""
    folder.mkdir()
    log = folder / "log"
    log.touch()
    own = folder / "chmod"
    own.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {which("chmod")} "$@"\n')
    own.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def _watched(job: Cli, query: Path, batches: int, seconds: int) -> Iterator[Figures]:
    """Sample a job until it has made `batches` batches in `seconds` or more; check each sample."""
    begun = since = time.monotonic()
    jvm = 0
    recent: deque[Figures] = deque()
    last = Figures(0, -1, 0, 0, 0, 0)
    figures = os.environ.get("STREAMTABLE_SOAK_FIGURES")
    while last.batch < batches or last.seconds < seconds:
        time.sleep(SAMPLE_S)
        assert job.process.poll() is None, job.process.communicate()[1]
        if last.batch < 0:
            assert time.monotonic() - begun < START_S, "no batch was committed"
            if not (query / "commits").exists():
                continue
            jvm = jvm_of(job.process.pid)
            since = time.monotonic()
        last = measured(query, jvm, since)
        if figures:
            with Path(figures).open("a") as file:
                file.write(json.dumps(asdict(last)) + "\n")
        recent.append(last)
        while recent[0].seconds < last.seconds - YOUNG_S:
            recent.popleft()
        allowed = VERSIONS + last.batch - recent[0].batch
        assert last.versions <= allowed, f"{last}, of which {allowed} may be"
        assert last.files <= allowed * FILES_PER_VERSION, last
        assert last.state_bytes <= STATE_BYTES, last
        assert last.resident_mb <= HEAP_MB + OUTSIDE_HEAP_MB, last
        yield last
