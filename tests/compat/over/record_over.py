"""Run the queries of `over_queries` on PyFlink and record their changes or errors.

    python -m tests.compat.over.record_over      # a Python with apache-flink

The answers go to `over.json`, with Flink's version: the changes in their order, or the message of
the last exception of an error.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment
from tests.compat.aggregates.aggregates_queries import plain
from tests.compat.over.over_queries import (
    ADDED,
    ARRIVALS,
    CHANGES,
    LATE,
    NOT_BY_THE_CLOCK,
    OVER,
    QUALIFIED,
    QUALIFIED_ARRIVALS,
    RANKS,
    TIMED,
    moment,
)

_KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}
_CHANGED = {"k": Types.INT(), "g": Types.STRING(), "v": Types.INT(), "w": Types.INT()}
_TIMED = {
    "id": Types.INT(),
    "k": Types.STRING(),
    "v": Types.INT(),
    "s": Types.STRING(),
    "t": Types.STRING(),
}


def main() -> None:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    tables = StreamTableEnvironment.create(environment)
    for name, changes in (("changes", CHANGES), ("added", ADDED)):
        rows = [_row(kind, row) for kind, row in changes]
        types = Types.ROW_NAMED(list(_CHANGED), list(_CHANGED.values()))
        stream = environment.from_collection(rows, types)
        tables.create_temporary_view(name, tables.from_changelog_stream(stream))
    columns = Schema.new_builder().column("id", "INT").column("k", "STRING").column("v", "INT")
    columns = columns.column("s", "STRING").column("t", "STRING")
    columns = columns.column_by_expression("ts", "CAST(t AS TIMESTAMP(3))")
    schema = columns.watermark("ts", "ts - INTERVAL '2' SECOND").build()
    for name, timed in (("timed", TIMED), ("late", LATE)):
        rows = [Row(*row[:4], moment(row[4]).isoformat(sep=" ")) for row in timed]
        types = Types.ROW_NAMED(list(_TIMED), list(_TIMED.values()))
        stream = environment.from_collection(rows, types)
        tables.create_temporary_view(name, tables.from_data_stream(stream, schema))
    answers = {}
    for query in (*OVER, *RANKS, *ARRIVALS, *NOT_BY_THE_CLOCK, *QUALIFIED, *QUALIFIED_ARRIVALS):
        answers[query] = _answer(tables, query)
        print(query, str(answers[query])[:300], flush=True)  # noqa: T201
    record = {"flink": version("apache-flink"), "answers": answers}
    target = Path(__file__).with_name("over.json")
    text = json.dumps(record).replace('"], ["', '"],\n["')
    target.write_text(text.replace('": [["', '":\n [["').replace(', "SELECT', ',\n"SELECT') + "\n")


def _answer(tables: StreamTableEnvironment, query: str) -> list | str:
    try:
        with tables.execute_sql(query).collect() as rows:
            return [[_name(r.get_row_kind()), [plain(v) for v in r]] for r in rows]
    except Exception as error:
        lines = [line for line in str(error).splitlines() if "Exception:" in line]
        return lines[-1].split("Exception: ", 1)[1]


def _row(kind: str, values: tuple) -> Row:
    row = Row(*values)
    row.set_row_kind(_KINDS[kind])
    return row


def _name(kind: RowKind) -> str:
    return next(name for name, known in _KINDS.items() if known == kind)


if __name__ == "__main__":
    main()
