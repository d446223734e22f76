"""Throughput beside Flink's, in one run on one broker: `make bench`.

Both engines read the same topics to their end, with two state partitions, state in RocksDB and a
checkpoint every 10 s; which goes first alternates. A rate is the number of source records by the
time between the moment when the sources begin to read and the moment when Kafka took the last
record of the result, so that no start-up counts: our moment is when the first batch was written
down, Flink's is when its log says that its sources run. Flink runs with its defaults and with
mini-batches; the better one counts. The results, folded by key, must be equal to the byte.

Where a workload reads one topic of rows, Spark itself is timed beside, which only decodes them and
writes nothing (`bare_spark.py`), from its first batch's beginning to its last one's end.

`--only NAME` picks workloads, `--scale 0.1` makes them smaller, `--rounds N` repeats each;
`--engines` leaves one out whose figure is not wanted.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from string import Template

import pyspark
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import flink, plots, processes
from benchmarks.filling import fill
from benchmarks.workloads import WORKLOADS, Workload
from streamtable.devbroker.broker import Broker

RESULTS = Path(__file__).parent / "results"
PARTITIONS = 2
TIMEOUT_S = 1_800.0
FLINK_SETTINGS = {
    "parallelism.default": "2",
    "state.backend.type": "rocksdb",
    "execution.checkpointing.interval": "10 s",
    "table.local-time-zone": "UTC",
    "taskmanager.memory.process.size": "4 g",
}
MINI_BATCH = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
}

OURS = "streamtable"
FLINKS: dict[str, dict[str, str]] = {"Flink": {}, "Flink, mini-batch": MINI_BATCH}
SPARK = "bare Spark"

#: Of the table that is printed.
COLUMNS = (
    *("workload", "day", "records", "engine", "records/s", "ratio", "of Spark"),
    *("CPU s", "MB", "disk", "written"),
)

#: When an engine's sources began to read, and, of one that writes nothing, when it was done.
Times = tuple[float, float | None]

#: Runs a workload in a folder; gives what it used, and its times.
Engine = Callable[[Workload, str, Path], tuple[processes.Used, Times]]


@dataclass(frozen=True)
class Figure:
    """One run of one engine.

    Attributes:
        records: of the sources.
        rate: of these a second.
        written: records of the result.
        disk_mb: the most that the checkpoint folder held; of RocksDB's files Flink keeps none
            there but those of its checkpoints, and we the last ten versions.
    """

    day: str
    workload: str
    engine: str
    records: int
    rate: float
    seconds: float
    cpu_s: float
    peak_mb: float
    disk_mb: float
    written: int


def main() -> None:
    """The command."""
    arguments = _arguments()
    installed = flink.installed()
    known = {OURS: _ours(arguments.set), SPARK: _bare_spark}
    known |= {name: _flink(installed, extra) for name, extra in FLINKS.items()}
    engines = {name: known[name] for name in arguments.engines}
    figures: list[Figure] = []
    for name in arguments.only or WORKLOADS:
        figures += _measure(WORKLOADS[name], engines, arguments.scale, arguments.rounds)
        if not arguments.keep_quiet:
            _write(_with_earlier(figures))
    print(_report(figures))


def _write(figures: Sequence[Figure]) -> None:
    """Result files; after each workload, so that what a later one meets costs no figure."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "throughput.md").write_text(_report(figures))
    (RESULTS / "throughput.json").write_text(
        json.dumps([asdict(f) for f in figures], indent=1) + "\n"
    )
    names = dict.fromkeys(f.workload for f in figures)
    plots.rates({name: _rates(figures, name) for name in names}, RESULTS / "throughput.png")


def _arguments() -> argparse.Namespace:
    engines = [OURS, *FLINKS, SPARK]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), metavar="NAME")
    parser.add_argument("--engines", nargs="+", choices=engines, default=engines, metavar="ENGINE")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a setting of ours, key=value")
    parser.add_argument("--keep-quiet", action="store_true", help="print, write no result files")
    return parser.parse_args()


def _measure(
    workload: Workload, engines: dict[str, Engine], scale: float, rounds: int
) -> list[Figure]:
    figures = []
    folds: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch, _broker(scratch) as servers:
        _create(servers, workload.sources, {})
        records = fill(servers, workload.records(scale))
        order = [name for name in engines if name != SPARK or workload.schema is not None]
        for number in range(rounds):
            for name in order:
                folder = Path(scratch) / "run"
                folder.mkdir()
                _create(servers, workload.sinks, {"message.timestamp.type": "LogAppendTime"})
                used, (begun, ended) = engines[name](workload, servers, folder)
                written, last, fold = _result(servers, workload.sinks)
                if ended is None:
                    folds[name] = fold
                seconds = (ended or last) - begun
                figure = Figure(
                    str(date.today()),
                    workload.name,
                    name,
                    records,
                    records / seconds,
                    seconds,
                    used.cpu_s,
                    used.peak_mb,
                    used.disk_mb,
                    written,
                )
                print(f"{workload.name}, round {number + 1}: {figure}", flush=True)
                figures.append(figure)
                _delete(servers, workload.sinks)
                shutil.rmtree(folder)
            order.reverse()
    first, *others = folds or [SPARK]
    different = [name for name in others if folds[name] != folds[first]]
    if different:
        message = f"{workload.name}: {', '.join(different)} and {first} differ in their results"
        raise SystemExit(message)
    return figures


@contextmanager
def _broker(scratch: str) -> Iterator[str]:
    quiet = {"log.retention.check.interval.ms": "86400000", "log.cleaner.enable": "false"}
    with Broker(Path(scratch) / "kafka", config=quiet) as broker:
        yield broker.bootstrap_servers


def _ours(extra: Sequence[str]) -> Engine:
    def run(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
        script = folder / "job.sql"
        script.write_text(Template(workload.script).substitute(servers=servers, end=""))
        checkpoint = folder / "checkpoint"
        command = [sys.executable, "-m", "streamtable", "run", str(script), "--bounded"]
        command += ["--checkpoint", str(checkpoint), "--master", "local[2]"]
        for setting in ("parallelism.default=2", "table.local-time-zone=UTC", *extra):
            command += ["--set", setting]
        used = processes.run(command, {}, folder / "out.log", TIMEOUT_S, checkpoint)
        begun = [file.stat().st_mtime for file in checkpoint.glob("*/offsets/0")]
        return used, (min(begun), None)

    return run


def _bare_spark(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
    checkpoint = folder / "checkpoint"
    script = str(Path(__file__).with_name("bare_spark.py"))
    topic, schema = workload.sources[0], workload.schema or ""
    command = [sys.executable, script, servers, topic, schema, str(checkpoint)]
    used = processes.run(command, {}, folder / "out.log", TIMEOUT_S, checkpoint)
    commits = [file.stat().st_mtime for file in checkpoint.glob("commits/[0-9]*")]
    return used, ((checkpoint / "offsets" / "0").stat().st_mtime, max(commits))


def _flink(installed: flink.Flink, extra: dict[str, str]) -> Engine:
    def run(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
        end = "'scan.bounded.mode' = 'latest-offset',"
        script = Template(workload.script).substitute(servers=servers, end=end)
        checkpoints = {"execution.checkpointing.dir": f"file://{folder}/checkpoint"}
        settings = {**FLINK_SETTINGS, **extra, **checkpoints}
        used, begun = flink.run(installed, script, settings, folder, TIMEOUT_S)
        return used, (begun, None)

    return run


def _create(servers: str, topics: Sequence[str], config: dict[str, str]) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    new = [NewTopic(topic, PARTITIONS, 1, config=config) for topic in topics]
    for created in admin.create_topics(new).values():
        created.result(timeout=30)


def _delete(servers: str, topics: Sequence[str]) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for deleted in admin.delete_topics(list(topics)).values():
        deleted.result(timeout=30)
    while set(topics) & set(admin.list_topics(timeout=30).topics):
        time.sleep(0.1)


def _result(servers: str, topics: Sequence[str]) -> tuple[int, float, object]:
    """Records written, when the last one was taken (epoch seconds), and the folded contents."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "benchmark",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    partitions = [TopicPartition(topic, p, 0) for topic in topics for p in range(PARTITIONS)]
    consumer.assign(partitions)
    count, last, at_end = 0, 0, 0
    table: dict[tuple[str, bytes], bytes] = {}
    bag: dict[bytes, int] = {}
    while at_end < len(partitions):
        for message in consumer.consume(10_000, timeout=10):
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                raise KafkaException(error)
            if error is not None:
                at_end += 1
                continue
            count += 1
            last = max(last, message.timestamp()[1])
            key, value = message.key(), message.value()
            if key is None:
                bag[value] = bag.get(value, 0) + 1
            elif value is None:
                table.pop((message.topic(), key), None)
            else:
                table[message.topic(), key] = value
    consumer.close()
    return count, last / 1000, (table, bag)


def _with_earlier(figures: Sequence[Figure]) -> list[Figure]:
    """These and those that earlier runs have left of other workloads, in the workloads' order."""
    file = RESULTS / "throughput.json"
    measured = {f.workload for f in figures}
    earlier = [Figure(**f) for f in json.loads(file.read_text())] if file.exists() else []
    kept = [f for f in earlier if f.workload in WORKLOADS and f.workload not in measured]
    return sorted([*kept, *figures], key=lambda f: list(WORKLOADS).index(f.workload))


def _rates(figures: Sequence[Figure], workload: str) -> dict[str, float]:
    """The median rate of each engine."""
    of_name = [f for f in figures if f.workload == workload]
    engines = dict.fromkeys(f.engine for f in of_name)
    return {e: statistics.median(f.rate for f in of_name if f.engine == e) for e in engines}


def _report(figures: Sequence[Figure]) -> str:
    lines = [
        "# Throughput beside Flink's",
        "",
        f"{processes.machine()}; `make bench`, whose `--scale` decides how many records there are.",
        "Ratio: to Flink's better one; of Spark: to Spark itself, which only decodes;",
        "MB: peak memory; disk: the most in the checkpoint's folder.",
        f"Spark {pyspark.__version__}, Flink {flink.VERSION}, Python {platform.python_version()}.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    for name in dict.fromkeys(f.workload for f in figures):
        of_name = [f for f in figures if f.workload == name]
        rates = _rates(figures, name)
        best = max((rate for engine, rate in rates.items() if engine in FLINKS), default=0)
        for engine, rate in rates.items():
            some = [f for f in of_name if f.engine == engine]
            cpu = statistics.median(f.cpu_s for f in some)
            peak, disk = max(f.peak_mb for f in some), max(f.disk_mb for f in some)
            ratio = f"{rate / best:.2f}" if best and engine == OURS else ""
            share = f"{rate / rates[SPARK]:.2f}" if SPARK in rates and engine == OURS else ""
            newest = some[-1]
            lines.append(
                f"| {name} | {newest.day} | {newest.records:,} | {engine} | {rate:,.0f} | {ratio}"
                f" | {share} | {cpu:.0f} | {peak:,.0f} | {disk:,.0f} | {newest.written:,} |"
            )
    lines += ["", *(f"- {w.name}: {w.about}" for w in WORKLOADS.values()), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
