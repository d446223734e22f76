"""Adopt the topics of a real Flink job: `python benchmarks/adopt.py`, about ten minutes.

Flink runs all scripts of `workloads/adopt_scripts.py` over two topics, with deletes in one of them.
When its consumer group has committed the ends of the topics and its sinks are quiet, its process is
killed. Then each script is adopted at the offsets of the group: `--plan` describes what would be
written, and the adoption must write what `--plan` has said. A record that is written fails the run
unless `_CAUSES` names the script.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[1]))

from confluent_kafka import Consumer, KafkaException, TopicPartition
from pyspark.sql import SparkSession

from benchmarks.engines import flink
from benchmarks.harness.brokers import broker
from benchmarks.harness.topics import PARTITIONS, create
from benchmarks.workloads.adopt_scripts import SCRIPTS, SOURCES, Script, orders, people
from streamtable.runtime.adopt.adopt import adopt_job
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.runtime.session.spark import start_spark
from streamtable.session import Session, fixed_settings
from streamtable.testing.topics import produce

_GROUP = "flink"
_SETTINGS = {
    "parallelism.default": "2",
    "execution.checkpointing.interval": "2 s",
    "table.local-time-zone": "UTC",
}
_PATIENCE_S = 300.0
#: Time without new records after which the sinks of Flink are complete, in seconds.
_QUIET_S = 8.0
_SOURCES = ("orders", "people")
_COUNTS = re.compile(
    r"of ([\d,]+) keys in \S+, ([\d,]+) get another or a first row and ([\d,]+) are deleted"
    r"(?:; ([\d,]+) have the same row)?"
)
#: Scripts with another number of records than 0, and why.
_CAUSES: dict[str, str] = {}


def main() -> None:
    """Run the comparison; exit with 1 if a script writes records without a named cause."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--orders", type=int, default=20_000, help="number of orders")
    parser.add_argument("--people", type=int, default=2_000, help="number of changes of people")
    parser.add_argument("--only", help="names of scripts, with commas between")
    given = parser.parse_args()
    chosen = [s for s in SCRIPTS if given.only is None or s.name in given.only.split(",")]
    scratch = Path(tempfile.mkdtemp(prefix="adopt-"))
    try:
        with broker(scratch) as kafka:
            failed = _compare(kafka.bootstrap_servers, chosen, given, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(1 if failed else 0)


def _compare(
    servers: str, chosen: Sequence[Script], given: argparse.Namespace, scratch: Path
) -> bool:
    create(servers, [*_SOURCES, *(s.name for s in chosen)])
    produce(servers, "orders", orders(0, given.orders, 1))
    produce(servers, "people", people(given.people, 1))
    with _flink_job(servers, chosen, scratch / "flink") as check_runs:
        _await_settled(servers, chosen, check_runs)
    spark = start_spark(fixed_settings({}).current(), "local[2]")
    failed = False
    print("| script | format | keys | other bytes, same row | written | deleted | seconds |")
    print("|---|---|---|---|---|---|---|")
    for script in chosen:
        begun = time.monotonic()
        before = sum(_ends(servers, [script.name]).values())
        planned = _adopt(spark, servers, script, scratch, plan=True)
        said = _adopt(spark, servers, script, scratch, plan=False)
        keys, written, deleted, alike = _counts(said)
        records = sum(_ends(servers, [script.name]).values()) - before
        seconds = f"{time.monotonic() - begun:.0f}"
        row = (script.name, script.format, keys, alike, written, deleted, seconds)
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        if _counts(planned) != _counts(said) or records != written + deleted:
            print(f"{script.name}: --plan has said {planned}, and {records} records were written")
            failed = True
        if written + deleted:
            print("\n".join(planned))
            print(f"{script.name}: {_CAUSES.get(script.name, 'no cause is known')}")
            failed = failed or script.name not in _CAUSES
    print(f"Flink {flink.VERSION}: {'FAILED' if failed else 'passed'}", flush=True)
    spark.stop()
    return failed


@contextmanager
def _flink_job(
    servers: str, scripts: Sequence[Script], folder: Path
) -> Iterator[Callable[[], None]]:
    """Run all scripts as one job of Flink, which is killed at the end of the block.

    The yielded function raises an error with the end of Flink's log if the job has ended.
    """
    folder.mkdir()
    text = SOURCES + "".join(s.sink for s in scripts) + "".join(s.insert for s in scripts)
    settings = {**_SETTINGS, "execution.checkpointing.dir": f"file://{folder}/checkpoints"}
    script = Template(text).substitute(servers=servers)
    start = flink.command(flink.installed(), script, settings, folder)
    with (folder / "out.log").open("wb") as out:
        env = {**os.environ, "FLINK_LOG_DIR": str(folder), "PYTHONPATH": ""}
        process = subprocess.Popen(start, env=env, stdout=out, stderr=out, start_new_session=True)

    def check_runs() -> None:
        if process.poll() is not None:
            raise RuntimeError((folder / "out.log").read_text(errors="replace")[-3_000:])

    try:
        yield check_runs
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await_settled(servers: str, scripts: Sequence[Script], check_runs: Callable[[], None]) -> None:
    """Wait until Flink has committed the ends of its sources, and its sinks are quiet."""
    wanted = _ends(servers, _SOURCES)
    lacking = "Flink has not committed the ends of its topics"
    _await(lambda: _committed(servers) == wanted, lacking, check_runs)
    seen, since = _ends(servers, [s.name for s in scripts]), time.monotonic()

    def is_quiet() -> bool:
        nonlocal seen, since
        now = _ends(servers, [s.name for s in scripts])
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since > _QUIET_S

    _await(is_quiet, "the sinks of Flink are not quiet", check_runs)


def _await(done: Callable[[], bool], otherwise: str, check: Callable[[], None]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not done():
        check()
        if time.monotonic() > end:
            raise TimeoutError(otherwise)
        time.sleep(0.5)


def _committed(servers: str) -> dict[tuple[str, int], int]:
    with _consumer(servers) as consumer:
        try:
            found = consumer.committed(_partitions(_SOURCES), timeout=30)
        except KafkaException:  # the first request makes the broker create the topic of groups
            return {}
    return {(p.topic, p.partition): p.offset for p in found}


def _ends(servers: str, topics: Sequence[str]) -> dict[tuple[str, int], int]:
    with _consumer(servers) as consumer:
        return {
            (p.topic, p.partition): consumer.get_watermark_offsets(p, timeout=30)[1]
            for p in _partitions(topics)
        }


@contextmanager
def _consumer(servers: str) -> Iterator[Consumer]:
    """A client of Flink's group, which does not join it."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": _GROUP})
    try:
        yield consumer
    finally:
        consumer.close()


def _partitions(topics: Sequence[str]) -> list[TopicPartition]:
    return [TopicPartition(topic, p) for topic in topics for p in range(PARTITIONS)]


def _adopt(
    spark: SparkSession, servers: str, script: Script, scratch: Path, *, plan: bool
) -> list[str]:
    session = Session(settings=fixed_settings({"table.local-time-zone": "UTC"}))
    session.load(script.text, f"{script.name}.sql", {"servers": servers})
    said: list[str] = []
    options = AdoptOptions(str(scratch / script.name), plan=plan, group=_GROUP)
    settings = session.settings.current()
    adopt_job(session.plans, settings, options, said.append, lambda _: None, spark=spark)
    return said


def _counts(said: Sequence[str]) -> list[int]:
    """Return the numbers of keys: in the topic, written, deleted, alike."""
    found = [match for line in said if (match := _COUNTS.search(line))]
    if len(found) != 1:
        raise ValueError("\n".join(said))
    return [int((number or "0").replace(",", "")) for number in found[0].groups()]


main()
