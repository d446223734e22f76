"""Ask PyFlink for the answers to `bitmaps_queries` and record them.

    python tests/compat/bitmaps/record_bitmaps.py      # a Python with apache-flink 2.3

The answers go to `bitmaps.json`, with Flink's version. The answer to an expression is its type and
value, or the message of a refusal or failure. The answer to a query is its changes, or the message
of a refusal. Recorded answers stay; remove the file to record all of them again.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bitmaps_queries import (
    ADDED,
    CHANGES,
    EXPRESSIONS,
    QUERIES,
    REFUSED,
    TIMED,
    WATERMARK,
)
from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment

_KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}
_TYPES = {"k": Types.INT(), "g": Types.STRING(), "x": Types.INT(), "y": Types.INT()}
_TIMED = {"t": Types.STRING(), "k": Types.INT(), "x": Types.INT(), "y": Types.INT()}


def main() -> None:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    tables = StreamTableEnvironment.create(environment)
    # The watermark moves with every row.
    tables.get_config().set("pipeline.auto-watermark-interval", "0 ms")
    for name, rows in (("changes", CHANGES), ("added", ADDED)):
        types = Types.ROW_NAMED(list(_TYPES), list(_TYPES.values()))
        stream = environment.from_collection([_row(*row) for row in rows], types)
        tables.create_temporary_view(name, tables.from_changelog_stream(stream))
    schema = Schema.new_builder()
    for name in _TIMED:
        schema = schema.column(name, "STRING" if name == "t" else "INT")
    schema = schema.column_by_expression("ts", "CAST(t AS TIMESTAMP(3))")
    timed = environment.from_collection(
        [Row(*row) for row in TIMED], Types.ROW_NAMED(list(_TIMED), list(_TIMED.values()))
    )
    declared = schema.watermark("ts", WATERMARK).build()
    tables.create_temporary_view("timed", tables.from_data_stream(timed, declared))
    target = Path(__file__).with_name("bitmaps.json")
    known = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    record: dict[str, Any] = {"flink": version("apache-flink")}
    for chapter, ask, texts in (
        ("expressions", _expression, EXPRESSIONS),
        ("queries", _query, QUERIES),
        ("refused", _query, REFUSED),
    ):
        there = known.get(chapter, {})
        record[chapter] = {t: there[t] if t in there else ask(t, tables) for t in texts}
    text = json.dumps(record, indent=1, ensure_ascii=False)
    target.write_text(text.replace("\n    ", " ").replace("\n   ]", "]") + "\n", encoding="utf-8")


def _expression(text: str, tables: StreamTableEnvironment) -> dict[str, Any]:
    java = tables._j_tenv
    try:
        schema = java.sqlQuery(f"SELECT {text}").getResolvedSchema()
    except Exception as error:  # of any kind: the error is the answer
        return {"error": _reason(error)}
    kind = schema.getColumnDataTypes().get(0).getLogicalType().asSerializableString()
    try:
        found = java.executeSql(f"SELECT {text}").collect()
        found.hasNext()  # fails if the job has failed; next() would hide the failure
        value = _plain(found.next().getField(0))
        found.close()
    except Exception as error:
        # An expression that the planner cannot translate is refused, too.
        refused = "Failed to fetch" not in str(error)
        return {"error" if refused else "fails": _reason(error)}
    return {"type": kind, "value": value}


def _query(query: str, tables: StreamTableEnvironment) -> list[Any] | str:
    try:
        with tables.execute_sql(query).collect() as rows:
            found = [[_name(r.get_row_kind()), [_plain(v) for v in r]] for r in rows]
    except Exception as error:
        found = _reason(error)
    print(query, found, flush=True)  # noqa: T201
    return found


def _reason(error: Exception) -> str:
    """Return the first line of the last cause."""
    lines = [line for line in str(error).splitlines() if "Exception: " in line]
    return lines[-1].partition("Exception: ")[2] if lines else str(error).partition("\n")[0]


def _plain(value: Any) -> Any:
    """Return a value as the record has it: bytes as hexadecimal digits, a BITMAP as its text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes | bytearray):
        return "hex:" + bytes(value).hex()
    if hasattr(value, "getClass") and not value.getClass().isArray():
        return value.toString()
    return [_plain(item) for item in value]


def _row(kind: str, values: tuple) -> Row:
    row = Row(*values)
    row.set_row_kind(_KINDS[kind])
    return row


def _name(kind: RowKind) -> str:
    return next(name for name, known in _KINDS.items() if known == kind)


if __name__ == "__main__":
    main()
