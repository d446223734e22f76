"""`filesystem` tables: options, partitions and refusals."""

from __future__ import annotations

import pytest

from streamtable.connectors.filesystem.table import FilesystemTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import Table
from streamtable.session import Session


def _table(
    options: str = "", columns: str = "a INT, dt STRING", by: str = "", name: str = "t"
) -> str:
    given = options or "'path' = '/data', 'format' = 'json'"
    return f"CREATE TABLE {name} ({columns}) {by} WITH ('connector' = 'filesystem', {given});"


def _load(sql: str) -> Session:
    session = Session()
    session.load(sql, "job.sql")
    return session


def _found(sql: str, name: str = "t") -> FilesystemTable:
    table = _load(sql).catalog.find((name,), None)
    assert isinstance(table, Table)
    assert isinstance(table.connector, FilesystemTable)
    return table.connector


_JSON = "'path' = '/data', 'format' = 'json'"
_COMMIT = f"{_JSON}, 'sink.partition-commit.policy.kind' = 'success-file'"

_BY_TIME = f"{_COMMIT}, 'sink.partition-commit.trigger' = 'partition-time'"


@pytest.mark.parametrize(
    ("options", "condition", "words"),
    [
        ("'format' = 'json'", Condition.MISSING_OPTION, "'path'"),
        ("'path' = '/data'", Condition.MISSING_OPTION, "'format'"),
        ("'path' = '/data', 'format' = 'orc'", Condition.NOT_YET, "format 'orc'"),
        ("'path' = '/data', 'format' = 'avro'", Condition.NOT_YET, "csv, json or parquet"),
        ("'path' = '/data', 'format' = 'debezium-json'", Condition.NOT_YET, "in files"),
        ("'path' = '/data', 'format' = 'josn'", Condition.UNKNOWN_FORMAT, "json"),
        (f"{_JSON}, 'source.monitor-interval' = '0 s'", Condition.INVALID_OPTION, "at least"),
        (f"{_JSON}, 'source.path.regex-pattern' = '('", Condition.INVALID_OPTION, "regular"),
        (f"{_JSON}, 'sink.parallelism' = '0'", Condition.INVALID_OPTION, "sink.parallelism"),
        (f"{_JSON}, 'json.fail-on-missing' = 'true'", Condition.UNKNOWN_OPTION, "did you mean"),
        (f"{_JSON}, 'csv.null-literal' = 'x'", Condition.UNKNOWN_OPTION, "csv.null-literal"),
        (f"{_JSON}, 'parquet.compression' = 'ZSTD'", Condition.OPTION_CONFLICT, "format 'json'"),
        (f"{_JSON}, 'partition.default-name' = 'x'", Condition.OPTION_CONFLICT, "PARTITIONED BY"),
        (f"{_JSON}, 'compaction.file-size' = '1 mb'", Condition.NOT_YET, "auto-compaction"),
        (
            f"{_BY_TIME}, 'partition.time-extractor.kind' = 'custom'",
            Condition.NOT_YET,
            "timestamp-pattern",
        ),
        (
            f"{_BY_TIME}, 'partition.time-extractor.class' = 'a.B'",
            Condition.NOT_YET,
            "class of Flink",
        ),
        (f"{_JSON}, 'sink.partition-commit.policy.kind' = 'custom'", Condition.NOT_YET, "'custom'"),
        (
            f"{_JSON}, 'sink.partition-commit.success-file.name' = '_OK'",
            Condition.OPTION_CONFLICT,
            "policy.kind",
        ),
    ],
)
def test_options_that_are_refused(options: str, condition: Condition, words: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _load(_table(options))
    assert refused.value.condition is condition
    assert words in str(refused.value)
    assert refused.value.at is not None


def test_defaults_of_flink_may_be_spelled_out() -> None:
    found = _found(
        _table(
            f"{_JSON}, 'sink.rolling-policy.file-size' = '128MB',"
            " 'sink.rolling-policy.rollover-interval' = '30 min',"
            " 'sink.partition-commit.trigger' = 'process-time',"
            " 'sink.partition-commit.delay' = '0 s', 'auto-compaction' = 'false'"
        )
    )
    assert found.describe() == "filesystem, /data, json"


def test_columns_that_are_refused() -> None:
    for columns, options, words in (
        ("a ARRAY<INT>, dt MAP<STRING, INT>", "'path' = '/d', 'format' = 'csv'", "column 'dt'"),
        ("a TIME, dt INT", "'path' = '/d', 'format' = 'parquet'", "column 'a'"),
        ("a INT, m STRING METADATA FROM 'file.pth'", _JSON, "did you mean 'file.path'"),
    ):
        with pytest.raises(StreamtableError) as refused:
            _load(_table(options, columns))
        assert words in str(refused.value)
        assert refused.value.at is not None


def test_partitions_are_columns_of_the_table() -> None:
    by = "PARTITIONED BY (dt, h)"
    sql = _table(columns="h INT, a INT, dt STRING", by=by)
    found = _found(sql)
    assert [f.name for f in found.partitions] == ["dt", "h"]
    assert [f.name for f in found.data] == ["a"]
    like = "CREATE TABLE u (b INT) WITH ('path' = '/u') LIKE t"
    assert [f.name for f in _found(f"{sql} {like};", "u").partitions] == ["dt", "h"]
    without = _found(f"{sql} {like} (EXCLUDING PARTITIONS OVERWRITING OPTIONS);", "u")
    assert without.partitions == ()
    with pytest.raises(StreamtableError, match="MERGE_CONFLICT"):
        _load(f"{sql} CREATE TABLE u (b INT) PARTITIONED BY (b) WITH ('path' = '/u') LIKE t;")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DROP dt", "column 'dt' is in PARTITIONED BY"),
        ("RENAME dt TO day_", "column 'dt' is in PARTITIONED BY"),
        ("MODIFY dt ARRAY<INT>", "the name of a directory cannot hold it"),
    ],
)
def test_partition_columns_cannot_be_changed(change: str, words: str) -> None:
    with pytest.raises(StreamtableError, match=words):
        _load(_table(by="PARTITIONED BY (dt)") + f"ALTER TABLE t {change};")


def test_partitions_are_kept_when_a_table_changes() -> None:
    sql = _table(by="PARTITIONED BY (dt)") + "ALTER TABLE t ADD b INT;"
    assert [f.name for f in _found(sql).partitions] == ["dt"]


def test_a_sink_without_partitions_refuses_them() -> None:
    sql = (
        "CREATE TABLE p (a INT, b INT) PARTITIONED BY (a) WITH ('connector' = 'jdbc',"
        " 'url' = 'jdbc:sqlite:x', 'table-name' = 'p');"
    )
    _load(sql)
    with pytest.raises(StreamtableError, match="connector 'jdbc' has no partitions") as refused:
        _load(sql + "INSERT INTO p VALUES (1, 2);")
    assert refused.value.condition is Condition.INVALID_PARTITIONS


def test_partitions_of_create_table_as() -> None:
    sql = _table() + (
        "CREATE TABLE u PARTITIONED BY (dt) WITH ('connector' = 'filesystem', 'path' = '/u',"
        " 'format' = 'csv') AS SELECT a, dt FROM t;"
    )
    assert [f.name for f in _found(sql, "u").partitions] == ["dt"]


def test_show_create_gives_the_partitions() -> None:
    from streamtable.catalog.script import create_table_sql

    session = _load(_table(by="PARTITIONED BY (dt)"))
    entry = session.catalog.entry(("t",), None)
    assert isinstance(entry.content, Table)
    shown = create_table_sql(entry, entry.content)
    assert "PARTITIONED BY (`dt`)\nWITH (" in shown
    again = Session()
    again.load(shown, "again.sql")
    found = again.catalog.find(("t",), None)
    assert isinstance(found, Table)
    assert found.schema.partition_keys == ("dt",)


def test_a_file_sink_refuses_updates() -> None:
    sql = _table() + _table(columns="dt STRING, n BIGINT", name="counts")
    with pytest.raises(StreamtableError) as refused:
        _load(sql + "INSERT INTO counts SELECT dt, COUNT(*) FROM t GROUP BY dt;")
    assert refused.value.condition is Condition.SINK_NEEDS_APPEND
    assert "counts (filesystem, /data, json) accepts only inserts" in str(refused.value)


def test_a_path_pattern_is_read_only() -> None:
    glob = _table("'path' = '/data/2026-*', 'format' = 'json'", name="g")
    assert len(_load(glob + _table() + "INSERT INTO t SELECT * FROM g;").plans) == 1
    with pytest.raises(StreamtableError, match="its path is a pattern"):
        _load(glob + _table() + "INSERT INTO g SELECT * FROM t;")


def test_metadata_of_files_is_read_only() -> None:
    columns = "a INT, p STRING METADATA FROM 'file.path'"
    with pytest.raises(StreamtableError, match="METADATA_READ_ONLY"):
        _load(_table(columns=columns) + "INSERT INTO t VALUES (1, 'x');")


def _committed(watermark: str) -> Session:
    source = _table("'path' = '/in', 'format' = 'json'", f"dt STRING, ts TIMESTAMP(3){watermark}")
    sink = _table(_BY_TIME, by="PARTITIONED BY (dt)", name="s", columns="a INT, dt STRING")
    return _load(f"{source}{sink} INSERT INTO s SELECT 1, dt FROM t;")


def test_a_commit_by_partition_time_keeps_the_watermark_of_the_query() -> None:
    session = _committed(", WATERMARK FOR ts AS ts")
    assert "WatermarkAssigner" in session.explain()
    assert not list(session.notices())


def test_a_commit_by_partition_time_without_a_watermark_has_a_notice() -> None:
    (notice,) = _committed("").notices()
    assert "no table of the query declares one" in notice
    assert "job.sql:1" in notice
