"""Files as tables: all types written and read, new files of a running job, faults by their file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.filesystem.table import FilesystemTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import Table
from streamtable.session import Session
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = """
  id INT, flag BOOLEAN, tiny TINYINT, big BIGINT, share DOUBLE, price DECIMAL(10, 2), word STRING,
  raw BYTES, day_ DATE, ts TIMESTAMP(3), at_ TIMESTAMP_LTZ(3), list ARRAY<INT>
"""
_VALUES = """
  (1, TRUE, CAST(-3 AS TINYINT), 9000000000, 0.5E0, 12.30, 'a,"b" ü', x'00ff', DATE '2026-01-31',
   TIMESTAMP '2026-01-31 10:11:12.345', TO_TIMESTAMP_LTZ(1000, 3), ARRAY[1, 2])
"""
_NULLS = ", ".join(
    f"CAST(NULL AS {kind})"
    for kind in (
        *("BOOLEAN", "TINYINT", "BIGINT", "DOUBLE", "DECIMAL(10,2)", "STRING", "BYTES", "DATE"),
        *("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"),
    )
)


def _directory(path: Path, format_: str, more: str = "") -> str:
    null = ", 'csv.null-literal' = 'n/a'" if format_ == "csv" else ""
    return f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}'{null}{more}"


def _rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows in the json files of a directory."""
    files = [f for f in path.rglob("part-*") if f.is_file()]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_types_survive_a_round_trip(spark: SparkSession, tmp_path: Path) -> None:
    formats = ("csv", "json", "parquet")
    writing = [
        f"CREATE TABLE {name} ({_COLUMNS}) WITH ({_directory(tmp_path / name, name)});\n"
        f"INSERT INTO {name} SELECT * FROM (VALUES {_VALUES}, (2, {_NULLS}, ARRAY[3])) AS v;"
        for name in formats
    ]
    BoundedRun(spark, "\n".join(writing), tmp_path / "c1")(bounded=False)
    # Two rows make at most two files: no file is empty, and no row is in two files.
    assert {len(list((tmp_path / name).glob("part-*"))) <= 2 for name in formats} == {True}
    reading = [
        f"CREATE TABLE {name} ({_COLUMNS}) WITH ({_directory(tmp_path / name, name)});"
        for name in formats
    ]
    target = _directory(tmp_path / "out", "json", ", 'auto-compaction' = 'true'")
    reading.append(
        f"CREATE TABLE out_ (origin STRING, {_COLUMNS}) PARTITIONED BY (origin) WITH ({target});"
    )
    union = " UNION ALL ".join(f"SELECT '{name}' AS origin, * FROM {name}" for name in formats)
    BoundedRun(spark, "\n".join([*reading, f"INSERT INTO out_ {union};"]), tmp_path / "c2")()
    for name in formats:
        partition = tmp_path / "out" / f"origin={name}"
        assert len(list(partition.glob("part-*.json"))) == 1
        first, second = sorted(_rows(partition), key=lambda row: row["id"])
        assert first == {
            "id": 1,
            "flag": True,
            "tiny": -3,
            "big": 9_000_000_000,
            "share": 0.5,
            "price": 12.3,
            "word": 'a,"b" ü',
            "raw": "AP8=",
            "day_": "2026-01-31",
            "ts": "2026-01-31 10:11:12.345",
            "at_": "1970-01-01 00:00:01Z",
            "list": [1, 2],
        }
        assert second == {**dict.fromkeys(first), "id": 2, "list": [3]}


#: INSERTs with values of partition columns, which Flink 2.2 accepts -> partition of the row.
_STATIC_PARTITIONS = {
    "PARTITION (dt = '2026-01-01', h = 3) SELECT 1, 'a'": "dt=2026-01-01/h=3",
    "PARTITION (h = +4) SELECT 1, DATE '2026-01-02', 'a'": "dt=2026-01-02/h=4",
    "PARTITION (dt = '2026-01-03') (v, h, id) SELECT 'a', 5, 1": "dt=2026-01-03/h=5",
    "PARTITION (dt = '2026-01-04', h = -6) VALUES (1, 'a')": "dt=2026-01-04/h=-6",
}


def test_static_partitions(spark: SparkSession, tmp_path: Path) -> None:
    table = _directory(tmp_path / "out", "json")
    script = (
        f"CREATE TABLE t (id INT, dt DATE, h INT, v STRING) PARTITIONED BY (dt, h) WITH ({table});"
    )
    script += "".join(f"INSERT INTO t {insert};" for insert in _STATIC_PARTITIONS)
    BoundedRun(spark, script, tmp_path / "c")()
    for partition in _STATIC_PARTITIONS.values():
        assert _rows(tmp_path / "out" / partition) == [{"id": 1, "v": "a"}]


_MONITORED = """
CREATE TABLE incoming (
  id INT, dt DATE, h INT,
  p STRING METADATA FROM 'file.path' VIRTUAL, n STRING METADATA FROM 'file.name' VIRTUAL,
  s BIGINT METADATA FROM 'file.size' VIRTUAL,
  m TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time' VIRTUAL
) PARTITIONED BY (dt, h) WITH (
  'connector' = 'filesystem', 'path' = '${in}', 'format' = 'csv',
  'source.monitor-interval' = '100 ms', 'source.path.regex-pattern' = '.*[.]csv',
  'partition.default-name' = 'none'
);
CREATE TABLE out_ (id INT, n STRING, p STRING, s BIGINT, m TIMESTAMP_LTZ(3), dt DATE, h INT)
PARTITIONED BY (dt, h) WITH (
  'connector' = 'filesystem', 'path' = '${out}', 'format' = 'json',
  'sink.partition-commit.policy.kind' = 'success-file',
  'sink.partition-commit.success-file.name' = '_DONE', 'partition.default-name' = 'none'
);
INSERT INTO out_ SELECT id, n, p, s, m, dt, h FROM incoming;
"""


@pytest.mark.parametrize("option", ["sink.shuffle-by-partition.enable", "auto-compaction"])
def test_parallelism_of_a_shuffle_by_partition(
    spark: SparkSession, tmp_path: Path, option: str
) -> None:
    session = Session()
    options = _directory(tmp_path / "out", "json", f", '{option}' = 'true'")
    session.load(
        "CREATE TABLE out (id BIGINT, p BIGINT) PARTITIONED BY (p)"
        f" WITH ({options}, 'sink.parallelism' = '3');",
        "job.sql",
    )
    table = session.catalog.find(("out",), None)
    assert isinstance(table, Table)
    assert isinstance(table.connector, FilesystemTable)
    rows = spark.range(9).withColumn("p", F.col("id") % 5)
    assert table.connector.sink()._distributed(rows).rdd.getNumPartitions() == 3


def _put(path: Path, text: str) -> None:
    """Create a file with all of its text at once, as a copy that ends with a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}")
    draft.write_text(text)
    draft.rename(path)


def test_new_files_are_read_once(spark: SparkSession, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    names = {"in": str(source), "out": str(out)}
    odd = source / "dt=2026-01-01" / "h=1" / "a +%41b.csv"
    _put(odd, "1\n2\n")
    _put(source / "dt=2026-01-01" / "h=1" / "other.txt", "3\n")
    _put(source / "dt=2026-01-01" / "h=1" / "_hidden.csv", "4\n")
    _put(source / "stray.csv", "5\n")
    run = BoundedRun(spark, _MONITORED, tmp_path / "checkpoint", names)
    put = False

    def done() -> bool:
        nonlocal put
        if len(_rows(out)) >= 2 and not put:
            put = True
            _put(source / "dt=2026-01-02" / "h=none" / "b.csv", "6\n")
        return len(_rows(out)) >= 3

    run.until(done)
    _put(source / "dt=2026-01-02" / "h=none" / "c.csv", "7\n")
    run()
    run()
    found = {row["id"]: row for row in _rows(out)}
    assert len(_rows(out)) == len(found)
    assert sorted(found) == [1, 2, 6, 7]
    assert (found[1]["n"], found[1]["p"], found[1]["s"]) == (odd.name, str(odd), 4)
    assert found[1]["m"].startswith("20")
    for partition in ("dt=2026-01-01/h=1", "dt=2026-01-02/h=none"):
        assert (out / partition / "_DONE").exists()
    assert {row["id"] for row in _rows(out / "dt=2026-01-02" / "h=none")} == {6, 7}


_PLAIN = """
CREATE TABLE incoming (id INT, name STRING) WITH (
  'connector' = 'filesystem', 'path' = '${in}', 'format' = '${format}'
);
CREATE TABLE nowhere (id INT, name STRING) WITH ('connector' = 'blackhole');
INSERT INTO nowhere SELECT * FROM incoming;
"""


@pytest.mark.parametrize(
    "script", ["INSERT INTO far SELECT * FROM near", "INSERT INTO near SELECT * FROM far"]
)
def test_a_scheme_without_a_file_system(spark: SparkSession, tmp_path: Path, script: str) -> None:
    tables = """
    CREATE TABLE far (id INT) WITH (
      'connector' = 'filesystem', 'path' = 'dbfs:/x', 'format' = 'json',
      'source.monitor-interval' = '1 s'
    );
    CREATE TABLE near (id INT) WITH (
      'connector' = 'filesystem', 'path' = '${near}', 'format' = 'json',
      'source.monitor-interval' = '1 s'
    );
    """
    names = {"near": str(tmp_path / "near")}
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, f"{tables}{script}", tmp_path / "c", names)()
    assert refused.value.condition is Condition.PATH_UNUSABLE
    assert 'No FileSystem for scheme "dbfs"' in str(refused.value)


def test_a_missing_path_and_an_unreadable_record(spark: SparkSession, tmp_path: Path) -> None:
    names = {"in": str(tmp_path / "in"), "format": "json"}
    run = BoundedRun(spark, _PLAIN, tmp_path / "c1", names)
    with pytest.raises(StreamtableError) as missing:
        run()
    assert missing.value.condition is Condition.PATH_MISSING
    assert missing.value.at is not None
    _put(tmp_path / "in" / "a.json", '{"id": 1, "name": "x"}\n{"id": oops}\n')
    with pytest.raises(StreamtableError) as unreadable:
        run()
    assert unreadable.value.condition is Condition.RECORD_UNREADABLE
    assert f"file '{tmp_path}/in/a.json': value is not valid json" in str(unreadable.value)


def test_real_time_mode_is_refused_with_the_table_name(spark: SparkSession, tmp_path: Path) -> None:
    monitored = _PLAIN.replace("'${format}'", "'csv', 'source.monitor-interval' = '1 s'")
    written = """
    CREATE TABLE made (id INT, name STRING) WITH ('connector' = 'datagen');
    CREATE TABLE out_ (id INT, name STRING) WITH (
      'connector' = 'filesystem', 'path' = '${in}', 'format' = 'csv'
    );
    INSERT INTO out_ SELECT * FROM made;
    """
    for script, words in ((monitored, "table incoming"), (written, "writing table out_")):
        run = BoundedRun(spark, script, tmp_path / words, {"in": str(tmp_path / "in")})
        with pytest.raises(StreamtableError) as refused:
            run({"execution.mode": "real-time"}, bounded=False)
        assert refused.value.condition is Condition.NOT_YET
        assert words in str(refused.value)
        assert "in real-time mode" in str(refused.value)
