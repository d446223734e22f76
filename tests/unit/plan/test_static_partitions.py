"""INSERT INTO ... PARTITION: the values of partition columns, and statements that Flink refuses."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.session import Session

_TABLES = """
CREATE TABLE days (id INT, dt STRING, h INT, v STRING) PARTITIONED BY (dt, h)
WITH ('connector' = 'blackhole');
CREATE TABLE strict (id INT NOT NULL, dt STRING NOT NULL, v STRING) PARTITIONED BY (dt)
WITH ('connector' = 'blackhole');
CREATE TABLE whole (id INT, dt STRING) WITH ('connector' = 'blackhole');
CREATE TABLE t (id INT, v STRING) WITH ('connector' = 'datagen');
"""


def _load(insert: str) -> Session:
    session = Session()
    session.load(_TABLES, "tables.sql")
    session.load(insert, "job.sql")
    return session


@pytest.mark.parametrize(
    ("insert", "columns"),
    [
        ("days PARTITION (dt = 'x', h = 3) SELECT id, v FROM t", "id, 'x' AS dt, 3 AS h, v"),
        (
            "days PARTITION (h = '4') SELECT id, v, v FROM t",
            "id, v AS dt, coalesce(CAST('4' AS INT)",
        ),
        (
            "days PARTITION (dt = -7) (h) SELECT id FROM t",
            "CAST(NULL AS INT) AS id, CAST((-7) AS STRING)",
        ),
        ("days PARTITION (`dt` = '') SELECT id, id, v FROM t", "id, '' AS dt, id_1 AS h, v"),
    ],
)
def test_every_row_has_the_values_of_the_partition(insert: str, columns: str) -> None:
    """Flink casts a value to the type of its column."""
    plan = _load(f"INSERT INTO {insert};").explain().replace("`", "")
    assert f"Calc {columns}" in plan


@pytest.mark.parametrize(
    ("insert", "error"),
    [
        (
            "days PARTITION (id = 5) SELECT 'x', 3, 'a'",
            "1:34: INVALID_PARTITIONS: PARTITIONED BY of days: it lacks column 'id', for",
        ),
        (
            "whole PARTITION (dt = 'x') SELECT 1",
            "1:35: INVALID_PARTITIONS: PARTITIONED BY of whole: it lacks column 'dt'",
        ),
        ("days PARTITION (nothing = 5) SELECT 1", "1:13: UNKNOWN_COLUMN: column 'nothing'"),
        ("days PARTITION (DT = 'x') SELECT 1", "1:13: UNKNOWN_COLUMN: column 'DT'"),
        (
            "days PARTITION (dt = '1', dt = '2') SELECT 1",
            "1:39: DUPLICATE_COLUMN: column 'dt' is declared twice in PARTITION",
        ),
        (
            "days PARTITION (dt = 'y') (dt, id) SELECT 'z', 3",
            "1:13: DUPLICATE_COLUMN: column 'dt' is declared twice in INSERT INTO days",
        ),
        ("days PARTITION (dt = 'y') SELECT 3, 'z', 1, 'd'", "1:13: COLUMN_COUNT_MISMATCH: "),
        ("strict PARTITION (dt = 'x') (v) SELECT 'a'", "1:13: NULL_IN_NOT_NULL_COLUMN: "),
        ("days PARTITION (dt) SELECT 1", "1:31: SYNTAX: expected '=', found ')'"),
        ("days PARTITION () SELECT 1", "1:29: SYNTAX: expected a column, found ')'"),
        (
            "days PARTITION (dt = NULL) SELECT 1",
            "1:34: SYNTAX: expected a string in quotes or a number, found 'NULL'",
        ),
        (
            "days PARTITION (dt = 'a' || 'b') SELECT 1",
            "1:38: SYNTAX: expected ',' or ')', found '||'",
        ),
    ],
)
def test_invalid_partitions_are_refused(insert: str, error: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _load(f"INSERT INTO {insert};")
    assert str(refused.value).startswith(f"job.sql:{error}")
