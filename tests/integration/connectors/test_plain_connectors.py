"""`datagen`, `print` and `blackhole` in one job of the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE made (
  id BIGINT, small INT, share DOUBLE, price DECIMAL(5, 2), word STRING, code CHAR(4), raw BYTES,
  ts TIMESTAMP(3), day DATE, flag BOOLEAN, list ARRAY<INT>, pairs MAP<STRING, INT>,
  pair ROW<x INT, y STRING>, gone INT
) WITH (
  'connector' = 'datagen', 'number-of-rows' = '40', 'rows-per-second' = '20000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100',
  'fields.small.min' = '1', 'fields.small.max' = '3', 'fields.share.min' = '0',
  'fields.share.max' = '1', 'fields.price.min' = '0', 'fields.price.max' = '9.99',
  'fields.word.length' = '5', 'fields.raw.length' = '2', 'fields.ts.max-past' = '1 d',
  'fields.gone.null-rate' = '1'
);
CREATE TABLE rows_out (
  id BIGINT, small INT, share DOUBLE, price DECIMAL(5, 2), word STRING, code CHAR(4), raw BYTES,
  ts TIMESTAMP(3), day DATE, flag BOOLEAN, list ARRAY<INT>, pairs MAP<STRING, INT>,
  pair ROW<x INT, y STRING>, gone INT, ids BITMAP
) WITH ('connector' = 'print', 'print-identifier' = 'row', 'sink.parallelism' = '1');
CREATE TABLE counts (small INT, n BIGINT) WITH ('connector' = 'print', 'standard-error' = 'true');
CREATE TABLE nowhere (id BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO rows_out SELECT *, BITMAP_BUILD(ARRAY[small, -1]) FROM made;
INSERT INTO counts SELECT small, COUNT(*) FROM made GROUP BY small;
INSERT INTO nowhere SELECT id FROM made;
"""
LINE = re.compile(
    r"row> \+I\[(\d+), ([123]), (0\.\d+|\d\.\d+E-\d+), (\d\.\d\d), [0-9a-f]{5}, [0-9a-f]{4},"
    r" \[-?\d+, -?\d+\], \d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{3})?)?, \d{4}-\d\d-\d\d,"
    r" (?:true|false), \[-?\d+, -?\d+, -?\d+\], \{\w+=-?\d+(?:, \w+=-?\d+){2}\},"
    r" \+I\[-?\d+, [0-9a-f]{100}\], null, \{[123],4294967295\}\]"
)
COUNT = re.compile(r"(?:\d> )?(\+I|-U|\+U)\[([123]), (\d+)\]")


def test_a_job_without_a_broker(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "streamtable", "run", str(script), "--bounded"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("row")]
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found), lines
    ids = sorted(int(match[1]) for match in found if match)
    assert ids == list(range(1, 41))
    last = {}
    for kind, small, count in COUNT.findall(done.stderr):
        if kind != "-U":
            last[small] = max(int(count), last.get(small, 0))
    # Each query generates rows of its own.
    assert sum(last.values()) == 40


def test_a_bounded_run_needs_an_end(spark: SparkSession, tmp_path: Path) -> None:
    script = (
        "CREATE TABLE made (id BIGINT) WITH ('connector' = 'datagen');\n"
        "CREATE TABLE nowhere (id BIGINT) WITH ('connector' = 'blackhole');\n"
        "INSERT INTO nowhere SELECT id FROM made;\n"
    )
    with pytest.raises(StreamtableError, match=r"test\.sql:1:1: MISSING_OPTION.*'number-of-rows'"):
        BoundedRun(spark, script, tmp_path / "c")()


def test_standard_error_is_closed(spark: SparkSession, tmp_path: Path) -> None:
    """Every task of a batch opens the standard error of this process, and closes it."""
    assert spark._jvm is not None
    descriptors = Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}/fd")
    own = Path(f"/proc/{os.getpid()}/fd/2").stat()

    def opened() -> int:
        found = 0
        for descriptor in descriptors.iterdir():
            with suppress(FileNotFoundError):
                there = descriptor.stat()
                found += (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)
        return found

    before = opened()
    script = """
    CREATE TABLE made (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '4');
    CREATE TABLE lines (id BIGINT) WITH ('connector' = 'print', 'standard-error' = 'true');
    INSERT INTO lines SELECT id FROM made;
    """
    BoundedRun(spark, script, tmp_path / "c")()
    assert opened() == before
