"""Results have the frame of Flink 2.2; the expected lines are Flink's output."""

from __future__ import annotations

import pytest

from streamtable.core.result_table import ResultTable, received
from streamtable.core.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    DataType,
    Field,
    Root,
    decimal,
    timestamp,
)

_NUMBERS = (
    Field("a", DataType(Root.TINYINT)),
    Field("b", DataType(Root.SMALLINT)),
    Field("c", INT),
    Field("d", BIGINT),
    Field("e", decimal(5, 2)),
    Field("g", DOUBLE),
    Field("h", BOOLEAN),
)


@pytest.mark.parametrize(
    ("columns", "row", "widest", "lines"),
    [
        (
            _NUMBERS,
            ("+I", "1", "1", "1", "1", "1.50", "1.0E10", "TRUE"),
            30,
            [
                (
                    "+----+--------+--------+-------------+----------------------+---------+"
                    "--------------------------------+--------+"
                ),
                (
                    "| op |      a |      b |           c |                    d |       e |"
                    "                              g |      h |"
                ),
                (
                    "| +I |      1 |      1 |           1 |                    1 |    1.50 |"
                    "                         1.0E10 |   TRUE |"
                ),
            ],
        ),
        (
            (
                Field("a_name_longer_than_its_type", INT),
                Field("s", STRING),
                Field("t", timestamp(3)),
            ),
            ("-D", "1", "日本語", None),
            30,
            [
                (
                    "+----+-----------------------------+--------------------------------+"
                    "-------------------------+"
                ),
                (
                    "| op | a_name_longer_than_its_type |                              s |"
                    "                       t |"
                ),
                (
                    "| -D |                           1 |                         日本語 |"
                    "                  <NULL> |"
                ),
            ],
        ),
        (
            (Field("w", STRING), Field("d", BIGINT), Field("e", decimal(30, 2))),
            ("+U", "a very long string that goes past the thirty characters", "1", "1.50"),
            10,
            [
                "+----+------------+----------------------+----------------------------------+",
                "| op |          w |                    d |                                e |",
                "| +U | a very ... |                    1 |                             1.50 |",
            ],
        ),
    ],
)
def test_frame(
    columns: tuple[Field, ...], row: tuple[str | None, ...], widest: int, lines: list[str]
) -> None:
    table = ResultTable(columns, widest, changes=True)
    assert list(table.head()) == [lines[0], lines[1], lines[0]]
    assert table.row(row) == lines[2]


def test_rows_without_kind() -> None:
    table = ResultTable([Field("n", INT)], 30, changes=False)
    assert [*table.head(), table.row(["7"])][1:] == [
        "|           n |",
        "+-------------+",
        "|           7 |",
    ]


def test_count() -> None:
    assert [received(n) for n in (0, 1, 2)] == [
        "Received a total of 0 row",
        "Received a total of 1 row",
        "Received a total of 2 rows",
    ]
