"""Partition commit and `kill -9`: a partition with the marker is complete and repeats no row."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import Cli, run, write

if TYPE_CHECKING:
    from pathlib import Path

_SCRIPT = """
CREATE TABLE incoming (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${in}', 'format' = 'csv',
  'source.monitor-interval' = '100 ms'
);
CREATE TABLE bids (id INT, hm STRING) PARTITIONED BY (hm) WITH (
  'connector' = 'filesystem', 'path' = '${out}', 'format' = 'csv',
  'sink.partition-commit.policy.kind' = 'success-file',
  'sink.partition-commit.trigger' = 'partition-time', 'sink.partition-commit.delay' = '1 min',
  'partition.time-extractor.timestamp-pattern' = '2026-01-31 $hm:00'
);
INSERT INTO bids SELECT id, DATE_FORMAT(ts, 'HH:mm') FROM incoming;
"""
_ROWS = 5
_MINUTES = 60
_KILLS = 6


def _minute(number: int) -> str:
    return f"{number // 60:02}:{number % 60:02}"


def _feed(source: Path) -> None:
    """Add a file for each minute, in order; no row is late."""
    for number in range(_MINUTES):
        draft = source / f".{number}"
        ids = range(number * _ROWS, (number + 1) * _ROWS)
        at = f"2026-01-31 {_minute(number)}"
        draft.write_text("".join(f'{i},"{at}:{i % _ROWS:02}"\n' for i in ids))
        draft.rename(source / f"{number:03}.csv")
        time.sleep(0.7)


def _partitions(out: Path) -> dict[str, tuple[bool, Counter[int]]]:
    """Return for each minute whether it has the marker, and its ids. Look for the marker first."""
    found = {}
    for directory in out.glob("hm=*"):
        marked = (directory / "_SUCCESS").exists()
        files = [file for file in directory.glob("part-*") if file.is_file()]
        ids = Counter(int(line) for file in files for line in file.read_text().split())
        found[directory.name.removeprefix("hm=").replace("%3A", ":")] = (marked, ids)
    return found


def _whole(minute: str) -> Counter[int]:
    hours, minutes = minute.split(":")
    first = (int(hours) * 60 + int(minutes)) * _ROWS
    return Counter(range(first, first + _ROWS))


@pytest.mark.soak
def test_a_committed_partition_is_complete(tmp_path: Path) -> None:
    dice = random.Random(71)
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    script = write(tmp_path / "job.sql", _SCRIPT)
    arguments = ["run", script, "--checkpoint", str(tmp_path / "checkpoint")]
    arguments += ["--master", "local[2]", "--var", f"in={source}", "--var", f"out={out}"]
    feeder = threading.Thread(target=_feed, args=(source,))
    feeder.start()
    marked = 0
    for _ in range(_KILLS):
        job = Cli.start(*arguments)
        job.until(
            lambda before=marked: sum(done for done, _ in _partitions(out).values()) > before,
            pause=0.05,
        )
        time.sleep(dice.random())
        job.kill()
        found = _partitions(out)
        marked = sum(done for done, _ in found.values())
        assert {m: ids for m, (done, ids) in found.items() if done} == {
            m: _whole(m) for m, (done, _) in found.items() if done
        }
        if marked > _MINUTES - 5:
            break
    feeder.join()
    code, _, err = run(*arguments, "--bounded", "--set", "execution.end-of-input.drain=true")
    assert code == 0, err
    minutes = map(_minute, range(_MINUTES))
    assert _partitions(out) == {minute: (True, _whole(minute)) for minute in minutes}
