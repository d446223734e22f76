"""Lines of progress, and the files by which reader and driver communicate."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

from streamtable.connectors.mysql_cdc.reader import Offset, Position, TableId
from streamtable.ingest.records.known import KnownTable
from streamtable.ingest.run.new_tables import answer, ask_for_topics, asked_tables, forget
from streamtable.ingest.run.progress import Progress
from streamtable.ingest.run.status import Lag, ReaderStatus, read_status, write_status
from streamtable.jvm.streaming.counters import Counters

TABLES = [TableId("shop", "a"), TableId("shop", "b")]


class Rows:
    """Count records in place of the writer."""

    def __init__(self) -> None:
        self.written = 0

    def values(self) -> dict[str, int]:
        return {"recordsOut": self.written}


def progress(rows: Rows, shown: list[str]) -> Any:
    return Progress(TABLES, 10_000, cast("Counters", rows), shown.append, 0.0)


def test_a_snapshot_has_tables_chunks_rows_rate_and_time_left():
    rows = Rows()
    lines = progress(rows, [])
    begun = lines._begun
    rows.written = 2_000
    status = ReaderStatus(pending=[["shop", "b"]], chunks=20)
    assert lines.line(status, begun + 2) == (
        "snapshot: 1 of 2 tables, 20 chunks, 2,000 of about 10,000 rows, 1,000 rows/s,"
        " about 8 s left"
    )


def test_the_binlog_has_its_position_rate_and_lag():
    rows = Rows()
    lines = progress(rows, [])
    begun = lines._begun
    rows.written = 30
    behind = ReaderStatus(position="binlog.000002:77", behind=4_096, lag=0.25)
    assert lines.line(behind, begun + 3) == (
        "binlog: at binlog.000002:77, 30 rows, 10 rows/s, 4,096 bytes behind, at most 0.2 s"
    )
    level = ReaderStatus(position="binlog.000002:99", idle=True, lag=0.0)
    assert lines.line(level, begun + 3).endswith("nothing to read")


def test_lines_are_printed_at_the_interval():
    shown: list[str] = []
    lines = progress(Rows(), shown)
    lines.look(None)
    lines.every = 3600.0
    lines.look(ReaderStatus())
    assert shown == []
    lines.every = 0.0
    lines.look(ReaderStatus())
    assert len(shown) == 1


def test_a_written_status_is_read_back(tmp_path: Path):
    path = str(tmp_path / "reader.json")
    assert read_status(path) is None
    status = ReaderStatus("binlog.000001:4", [["shop", "a"]], 3, 5, 1.5, ended=False, idle=True)
    write_status(path, status)
    assert read_status(path) == status


def test_the_reader_waits_for_the_topics_of_new_tables(tmp_path: Path):
    """The answer of the driver also has the tables that the checkpoint now stores."""
    path = str(tmp_path / "reader.json")
    assert ask_for_topics(path, []) == {}
    assert asked_tables(path) == []
    stored = KnownTable(("id", "done"), ("id",), ("shop.a",), ("done",))
    known = {TABLES[0]: stored, TableId("shop", "other"): stored}
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask_for_topics, path, TABLES)
        while asked_tables(path) != TABLES:
            assert not waiting.done()
        answer(path, TABLES, known)
        assert waiting.result(10) == {TABLES[0]: stored}
    assert asked_tables(path) == []
    forget(path)
    assert asked_tables(path) == []


def test_the_lag_of_a_busy_job_is_that_of_the_last_batch():
    """The lag counts from the plan of the newest written batch that ended at the end of the binlog.

    A batch is written when the next batch starts at its end. An empty batch counts at once.
    """
    lag = Lag()
    offsets = [Offset(Position("binlog.000001", 100 * i)) for i in range(4)]
    assert lag.seconds(1.0) == -1.0
    lag.plan(offsets[0], offsets[1], 1.0, to_the_end=True)
    assert lag.seconds(1.5) == -1.0
    lag.plan(offsets[1], offsets[2], 1.5, to_the_end=True)
    assert lag.seconds(2.0) == 1.0
    lag.plan(offsets[2], offsets[3], 2.0, to_the_end=False)
    assert lag.seconds(2.5) == 1.0
    lag.plan(offsets[3], offsets[3], 3.0, to_the_end=True)
    assert lag.seconds(3.5) == 0.5
