"""Latency compared with Flink's, in one run on one broker: `make bench-latency`.

A producer writes records at a constant rate; each record contains its send time. An external
consumer reads the result and computes the latency from that time. Streamtable runs in micro-batches
and in real-time mode. Flink runs with its defaults, and with a buffer timeout of 1 ms. All jobs
have two state partitions in RocksDB and a checkpoint every 60 s, so that each measurement of 60 s
includes one checkpoint.

Exactly-once sinks run in micro-batches here, each of which commits its transactions. Flink
commits them with its checkpoints, which are then one second apart. The consumer sees committed
records only.

The benchmark measures long-running jobs. A minute at 1,000 records/s comes first, in which the JVMs
compile, and the first seconds of each rate are excluded. `--warm-up 0` measures the start as well.

- `--only NAME` selects jobs.
- `--engines NAME` selects engines.
- `--rates N` sets the rates.
- `--seconds N` sets the duration of each rate.
- `--set KEY=VALUE` adds a setting of ours.

Results of earlier runs stay in the result files unless this run replaces them.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.engines import flink
from benchmarks.harness.brokers import broker
from benchmarks.harness.latency_report import INTERVAL, Figure, figure, report, with_earlier, write
from benchmarks.harness.probes import (
    KEYS,
    TOPICS,
    Results,
    at,
    fill_sides,
    sender,
    until_running,
)
from benchmarks.harness.topics import create, delete

RATES = (100, 1_000, 10_000)
WARM_UP_RATE = 1_000

#: A running job: the first process of its own session.
Process = subprocess.Popen[bytes]

_SERVERS = "'properties.bootstrap.servers' = '${servers}'"
_SOURCE = f"""CREATE TABLE t (id BIGINT, sent BIGINT) WITH ('connector' = 'kafka', 'topic' = 't',
  {_SERVERS}, 'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
"""
_SINK = f"""CREATE TABLE o (id BIGINT, n BIGINT, sent BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'o', {_SERVERS},
  'key.format' = 'json', 'value.format' = 'json');
"""
_EXACTLY_ONCE = """'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'latency', 'properties.transaction.timeout.ms' = '600000', """
_GROUPS = "INSERT INTO o SELECT id, COUNT(*), MAX(sent) FROM t GROUP BY id;"
_SIDE = f"""CREATE TABLE $name (id BIGINT, sent BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '$name', {_SERVERS},
  'key.format' = 'json', 'value.format' = 'json');
"""

_JOINED = "INSERT INTO o SELECT t.id, sides.sent, t.sent FROM t JOIN sides ON {on};"

#: Job -> its script. All jobs read `t`; joins also read a side table that is filled before.
JOBS = {
    "stateless": _SOURCE
    + f"""CREATE TABLE o (id BIGINT, n BIGINT, sent BIGINT) WITH ('connector' = 'kafka',
  'topic' = 'o', {_SERVERS}, 'format' = 'json');
INSERT INTO o SELECT id, id + 1, sent FROM t WHERE id >= 0;""",
    "group-by": _SOURCE + _SINK + _GROUPS,
    "exactly-once": _SOURCE
    + _SINK.replace("'key.format'", _EXACTLY_ONCE + "'key.format'")
    + _GROUPS,
    "two levels": _SOURCE
    + _SINK
    + """INSERT INTO o SELECT MOD(id, 10), SUM(n), MAX(sent) FROM (
  SELECT id, COUNT(*) AS n, MAX(sent) AS sent FROM t GROUP BY id) AS g GROUP BY MOD(id, 10);""",
    "upsert join": Template(_SIDE).safe_substitute(name="t")
    + Template(_SIDE).safe_substitute(name="sides")
    + _SINK
    + _JOINED.format(on="t.id = sides.id"),
    "foreign-key join": Template(_SIDE).safe_substitute(name="t")
    + Template(_SIDE).safe_substitute(name="sides")
    + _SINK
    + _JOINED.format(on="t.id / 2 = sides.id"),
}

#: Job -> how many groups its results have; the others have a result per key.
_GROUPS_OF = {"two levels": 10}

_OURS = {"ours, micro-batch": "micro-batch", "ours, real-time": "real-time"}
_FLINK = {
    "Flink": {},
    "Flink, 1 ms buffers": {"execution.buffer-timeout.interval": "1 ms"},
    "Flink, 1 s checkpoints": {"execution.checkpointing.interval": "1 s"},
}
#: The engines of a job; None for the other jobs.
_ENGINES = {
    "exactly-once": ("ours, micro-batch", "Flink, 1 s checkpoints"),
    None: ("ours, micro-batch", "ours, real-time", "Flink", "Flink, 1 ms buffers"),
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(JOBS), default=list(JOBS))
    every = [*_OURS, *_FLINK]
    parser.add_argument("--engines", nargs="+", choices=every, default=every)
    parser.add_argument("--rates", nargs="+", type=int, default=list(RATES))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--warm-up", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--set", action="append", default=[], help="a setting of ours, key=value")
    parser.add_argument("--keep-quiet", action="store_true", help="print, write no result files")
    arguments = parser.parse_args()
    installed = flink.installed()
    figures: list[Figure] = []
    with _folder() as scratch, broker(scratch) as kafka:
        servers = kafka.bootstrap_servers
        for job in arguments.only:
            engines = _ENGINES.get(job, _ENGINES[None])
            for engine in filter(engines.__contains__, arguments.engines):
                for rate, found in _measure(job, engine, installed, servers, arguments).items():
                    figures.append(figure(job, engine, rate, found))
                    print(figures[-1], flush=True)
            if not arguments.keep_quiet:
                write(with_earlier(figures, list(JOBS)))
    print(report(figures))


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        yield Path(folder)


def _measure(
    job: str, engine: str, installed: flink.Flink, servers: str, arguments: argparse.Namespace
) -> dict[int, list[float]]:
    """Measure latencies in milliseconds by rate."""
    create(servers, TOPICS)
    producer = sender(servers)
    fill_sides(producer)
    script = Template(JOBS[job]).substitute(servers=servers)
    with (
        _folder() as folder,
        running(engine, installed, script, folder, arguments.set),
        Results(servers, _GROUPS_OF.get(job, KEYS)) as results,
    ):
        until_running(producer, results)
        at(WARM_UP_RATE, arguments.warm_up, producer, results)
        rates, seconds = arguments.rates, arguments.seconds
        found = {rate: at(rate, seconds, producer, results) for rate in rates}
    delete(servers, TOPICS)
    return found


def running(
    engine: str, installed: flink.Flink, script: str, folder: Path, extra: Sequence[str] = ()
) -> AbstractContextManager[Process]:
    """Run a job of an engine in a context, ours with more settings, each as key=value."""
    if engine in _OURS:
        return running_ours(_OURS[engine], script, folder, extra)
    return _running_flink(_FLINK[engine], installed, script, folder)


def running_ours(
    mode: str, script: str, folder: Path, extra: Sequence[str] = ()
) -> AbstractContextManager[Process]:
    """Run a streamtable job in a mode, in a context; its checkpoint is in the folder."""
    file = folder / "job.sql"
    file.write_text(script)
    command = [sys.executable, "-m", "streamtable", "run", str(file)]
    command += ["--checkpoint", str(folder / "checkpoint")]
    settings = {
        "execution.mode": mode,
        "execution.checkpointing.interval": INTERVAL,
        "parallelism.default": "2",
    }
    for setting in (*(f"{key}={value}" for key, value in settings.items()), *extra):
        command += ["--set", setting]
    return _running(command, {}, folder)


def _running_flink(
    extra: Mapping[str, str], installed: flink.Flink, script: str, folder: Path
) -> AbstractContextManager[Process]:
    settings = {
        "parallelism.default": "2",
        "state.backend.type": "rocksdb",
        "execution.checkpointing.interval": INTERVAL,
        "execution.checkpointing.dir": f"file://{folder}/checkpoint",
        **extra,
    }
    command = flink.command(installed, script, settings, folder)
    return _running(command, {"PYTHONPATH": ""}, folder)


@contextmanager
def _running(command: Sequence[str], env: Mapping[str, str], folder: Path) -> Iterator[Process]:
    with (folder / "out.log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **env}, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    main()
