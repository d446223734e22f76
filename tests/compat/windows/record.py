"""Run the queries of `queries` on PyFlink and record their answers.

    python tests/compat/windows/record.py      # a Python with apache-flink

The answers go to `answers.json`, with Flink's version: rows with their kinds, sorted, or the
message of a refusal. Recorded answers stay; remove the file to record all of them again.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment
from pyflink.table.changelog_mode import ChangelogMode
from queries import APPENDED, LAST, QUERIES, TABLES, ZONE

_KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}
_TYPES = {"STRING": Types.STRING(), "INT": Types.INT(), "BIGINT": Types.LONG()}
_SETTINGS = {
    "table.local-time-zone": ZONE,
    # The watermark moves with every row, and decides at each row whether the row is late.
    "pipeline.auto-watermark-interval": "0 ms",
    "table.optimizer.agg-phase-strategy": "ONE_PHASE",
}


def main() -> None:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    tables = StreamTableEnvironment.create(environment)
    for key, value in _SETTINGS.items():
        tables.get_config().set(key, value)
    for name in TABLES:
        _declare(name, environment, tables)
    target = Path(__file__).with_name("answers.json")
    known = json.loads(target.read_text(encoding="utf-8"))["answers"] if target.exists() else {}
    answers = {}
    for query in QUERIES:
        answers[query] = known[query] if query in known else _answer(query, tables)
        print(query, answers[query], flush=True)  # noqa: T201
    record = {"flink": version("apache-flink"), "answers": answers}
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _declare(
    name: str, environment: StreamExecutionEnvironment, tables: StreamTableEnvironment
) -> None:
    columns, computed, batches = TABLES[name]
    if columns.startswith("ts "):
        # Rows from Python have timestamps as texts.
        columns = columns.replace("ts TIMESTAMP(3)", "t STRING")
        computed = f"ts AS TO_TIMESTAMP(t), {computed}"
    named = [column.split() for column in columns.split(", ")]
    schema = Schema.new_builder()
    for column, kind in named:
        schema = schema.column(column, kind)
    column, watermark = computed.split(", WATERMARK FOR ts AS ")
    schema = schema.column_by_expression(*column.split(" AS ", 1))
    schema = schema.watermark("ts", watermark)
    types = Types.ROW_NAMED([c for c, _ in named], [_TYPES[kind] for _, kind in named])
    rows = [_row(*row) for batch in batches for row in batch]
    stream = environment.from_collection(rows, types)
    mode = ChangelogMode.insert_only() if name in APPENDED else ChangelogMode.all()
    table = tables.from_changelog_stream(stream, schema.build(), mode)
    tables.create_temporary_view(name, table)


def _answer(query: str, tables: StreamTableEnvironment) -> list | str:
    try:
        with tables.execute_sql(query).collect() as rows:
            found = [[_name(r.get_row_kind()), [_plain(v) for v in r]] for r in rows]
    except Exception as error:
        said = re.findall(r"(?:Validation|Table)Exception: (.*)", str(error))
        return said[-1] if said else str(error).splitlines()[0]
    return sorted((r for r in found if not any(str(v).startswith(LAST) for v in r[1])), key=repr)


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _row(kind: str, values: tuple) -> Row:
    row = Row(*values)
    row.set_row_kind(_KINDS[kind])
    return row


def _name(kind: RowKind) -> str:
    return next(name for name, known in _KINDS.items() if known == kind)


if __name__ == "__main__":
    main()
