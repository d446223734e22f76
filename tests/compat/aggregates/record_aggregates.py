"""Run the queries of `aggregates_queries` on PyFlink and record their changelogs.

    python tests/compat/aggregates/record_aggregates.py      # a Python with apache-flink

The answers go to `aggregates.json`, with Flink's version.
"""

from __future__ import annotations

import json
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

from aggregates_queries import ADDED, CHANGES, QUERIES, plain
from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment

_KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}
_TYPES = {
    "k": ("INT", Types.INT()),
    "g": ("STRING", Types.STRING()),
    "v": ("INT", Types.INT()),
    "s": ("STRING", Types.STRING()),
    "d": ("DECIMAL(10, 2)", Types.BIG_DEC()),
    "x": ("DOUBLE", Types.DOUBLE()),
}


def main() -> None:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    tables = StreamTableEnvironment.create(environment)
    schema = Schema.new_builder()
    for name, (sql, _) in _TYPES.items():
        schema = schema.column(name, sql)
    types = Types.ROW_NAMED(list(_TYPES), [kind for _, kind in _TYPES.values()])
    for name, rows in (("changes", CHANGES), ("added", ADDED)):
        stream = environment.from_collection([_row(*row) for row in rows], types)
        tables.create_temporary_view(name, tables.from_changelog_stream(stream, schema.build()))
    answers = {}
    for query in QUERIES:
        with tables.execute_sql(query).collect() as rows:
            answers[query] = [[_name(r.get_row_kind()), [plain(v) for v in r]] for r in rows]
        print(query, len(answers[query]), flush=True)  # noqa: T201
    record = {"flink": version("apache-flink"), "answers": answers}
    target = Path(__file__).with_name("aggregates.json")
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _row(kind: str, values: tuple) -> Row:
    columns = list(values)
    columns[4] = None if columns[4] is None else Decimal(columns[4])
    row = Row(*columns)
    row.set_row_kind(_KINDS[kind])
    return row


def _name(kind: RowKind) -> str:
    return next(name for name, known in _KINDS.items() if known == kind)


if __name__ == "__main__":
    main()
