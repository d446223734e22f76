"""Run the queries of `temporal_queries` on PyFlink and record their changes.

    python -m tests.compat.temporal.record_temporal      # a Python with apache-flink

The answer of a query has each row with its count, additions minus retractions. The answers go to
`temporal.json`, with Flink's version.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment
from tests.compat.temporal.temporal_queries import (
    DIFFERENT,
    MORE_VERSIONS,
    NEWEST,
    QUERIES,
    REPLACED,
    TIME,
    VERSIONS,
    WAITING,
    WATERMARK,
)

_KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}
_LEFT = Types.ROW_NAMED(
    ["k", "g", "h", "v", "s"],
    [Types.INT(), Types.STRING(), Types.STRING(), Types.INT(), Types.LONG()],
)
_VERSIONS = Types.ROW_NAMED(["k", "v", "s"], [Types.STRING(), Types.INT(), Types.LONG()])
_PAUSE_S = 3.0
#: Value of `s` at the place of the pause; not a row of the table.
_PAUSE = -1


def main() -> None:
    answers = {}
    for query in (*QUERIES, *DIFFERENT):
        answers[query] = _net(query)
        print(query, answers[query], flush=True)  # noqa: T201
    record = {"flink": version("apache-flink"), "answers": answers}
    target = Path(__file__).with_name("temporal.json")
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _net(query: str) -> list[list[object]]:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    tables = StreamTableEnvironment.create(environment)
    tables.get_config().set("table.local-time-zone", "UTC")
    # A row that waits until a bundle is full would come after the pause.
    tables.get_config().set("python.fn-execution.bundle.size", "1")
    left = Schema.new_builder().column("k", "INT NOT NULL").column("g", "STRING")
    left = left.column("h", "STRING").column("v", "INT").column("s", "BIGINT")
    pause = ("+I", (0, "", "", 0, _PAUSE))
    for name, after in (("newest", NEWEST), ("replaced", REPLACED)):
        rows = [_row(*row) for row in (*WAITING, pause, *after)]
        stream = environment.from_collection(rows, _LEFT).filter(_waited)
        if name in query:
            schema = _with_time(left).primary_key("k").build()
            tables.create_temporary_view(name, tables.from_changelog_stream(stream, schema))
    versions = [_row("+I", row) for row in (*VERSIONS, ("", 0, _PAUSE), *MORE_VERSIONS)]
    stream = environment.from_collection(versions, _VERSIONS).filter(_waited)
    right = Schema.new_builder().column("k", "STRING NOT NULL").column("v", "INT")
    schema = _with_time(right.column("s", "BIGINT")).primary_key("k").build()
    tables.create_temporary_view("p", tables.from_changelog_stream(stream, schema))
    found: Counter[str] = Counter()
    with tables.execute_sql(query).collect() as changes:
        for row in changes:
            taken = row.get_row_kind() in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
            found[json.dumps(list(row))] += -1 if taken else 1
    return [[*json.loads(text), count] for text, count in sorted(found.items()) if count]


def _with_time(schema: Schema.Builder) -> Schema.Builder:
    return schema.column_by_expression("ts", TIME).watermark("ts", WATERMARK)


def _waited(row: Row) -> bool:
    if row[-1] != _PAUSE:
        return True
    time.sleep(_PAUSE_S)
    return False


def _row(kind: str, values: tuple) -> Row:
    row = Row(*values)
    row.set_row_kind(_KINDS[kind])
    return row


if __name__ == "__main__":
    main()
