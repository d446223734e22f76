"""Run the queries of `ttl_queries` on PyFlink and record their changes.

    python tests/compat/ttl/record_ttl.py      # a Python with apache-flink

The answer of a query has each row with its count, additions minus retractions, over all changes
before and after the pause. The answers go to `ttl.json`, with Flink's version.
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
from ttl_queries import (
    AFTER,
    BEFORE,
    QUERIES,
    TIMED_AFTER,
    TIMED_BEFORE,
    TIMED_QUERIES,
    VERSIONS_AFTER,
    VERSIONS_BEFORE,
)

_KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}
_TYPES = Types.ROW_NAMED(["k", "g", "v"], [Types.INT(), Types.STRING(), Types.INT()])
_TTL_MS, _PAUSE_S = 3_000, 5.0
#: The place of the pause; not a row of the table.
_PAUSE = ("+I", (-1, "", 0))
#: Key at the place of the pause in the table of versions.
_PAUSE_KEY = "pause"


def main() -> None:
    answers = {}
    for query in (*QUERIES, *TIMED_QUERIES):
        answers[query] = _net(query)
        print(query, answers[query], flush=True)  # noqa: T201
    record = {"flink": version("apache-flink"), "answers": answers}
    target = Path(__file__).with_name("ttl.json")
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _net(query: str) -> list[list[object]]:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    tables = StreamTableEnvironment.create(environment)
    tables.get_config().set("table.local-time-zone", "UTC")
    tables.get_config().set("table.exec.state.ttl", f"{_TTL_MS} ms")
    # A row that waits until a bundle is full would come after the pause.
    tables.get_config().set("python.fn-execution.bundle.size", "1")
    schema = Schema.new_builder().column("k", "INT").column("g", "STRING").column("v", "INT")
    rows = [*BEFORE, _PAUSE, *AFTER]
    stream = environment.from_collection([_row(*row) for row in rows], _TYPES).filter(_waited)
    tables.create_temporary_view("l", tables.from_changelog_stream(stream, schema.build()))
    _add_timed(environment, tables)
    _add_versions(environment, tables)
    found: Counter[str] = Counter()
    with tables.execute_sql(query).collect() as changes:
        for row in changes:
            taken = row.get_row_kind() in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
            found[json.dumps(list(row))] += -1 if taken else 1
    return [[*json.loads(text), count] for text, count in sorted(found.items()) if count]


def _add_timed(environment: StreamExecutionEnvironment, tables: StreamTableEnvironment) -> None:
    """Create the table `t`."""
    rows = [Row(*row) for row in (*TIMED_BEFORE, (*_PAUSE[1], 0), *TIMED_AFTER)]
    types = [Types.INT(), Types.STRING(), Types.INT(), Types.LONG()]
    named = Types.ROW_NAMED(["k", "g", "v", "s"], types)
    stream = environment.from_collection(rows, named).filter(_waited)
    schema = Schema.new_builder().column("k", "INT").column("g", "STRING")
    schema = _with_time(schema.column("v", "INT").column("s", "BIGINT"))
    tables.create_temporary_view("t", tables.from_data_stream(stream, schema.build()))


def _add_versions(environment: StreamExecutionEnvironment, tables: StreamTableEnvironment) -> None:
    """Create the table `u`."""
    pause = (_PAUSE_KEY, 0, 0)
    rows = [Row(*row) for row in (*VERSIONS_BEFORE, pause, *VERSIONS_AFTER)]
    named = Types.ROW_NAMED(["k", "v", "s"], [Types.STRING(), Types.INT(), Types.LONG()])
    stream = environment.from_collection(rows, named).filter(_waited)
    schema = Schema.new_builder().column("k", "STRING NOT NULL").column("v", "INT")
    schema = _with_time(schema.column("s", "BIGINT")).primary_key("k")
    tables.create_temporary_view("u", tables.from_changelog_stream(stream, schema.build()))


def _with_time(schema: Schema.Builder) -> Schema.Builder:
    schema = schema.column_by_expression("ts", "TO_TIMESTAMP_LTZ(s * 1000, 3)")
    return schema.watermark("ts", "ts - INTERVAL '1' SECOND")


def _waited(row: Row) -> bool:
    if row[0] not in (_PAUSE[1][0], _PAUSE_KEY):
        return True
    time.sleep(_PAUSE_S)
    return False


def _row(kind: str, values: tuple) -> Row:
    row = Row(*values)
    row.set_row_kind(_KINDS[kind])
    return row


if __name__ == "__main__":
    main()
