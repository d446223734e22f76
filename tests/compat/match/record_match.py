"""Run the queries of `match_queries` on PyFlink and record their rows or errors.

    python -m tests.compat.match.record_match      # a Python with apache-flink

The answers go to `match.json`, with Flink's version: rows of texts in their order, or the message
of the last exception of an error. Recorded answers stay; remove the file to record them all again.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment
from tests.compat.match.match_queries import DISORDER, FAILING, MATCHED, RANDOM, TICKS, WRITTEN

_TARGET = Path(__file__).with_name("match.json")
#: Number of queries in one job.
_AT_ONCE = 20
_TYPES = {
    "k": Types.STRING(),
    "id": Types.INT(),
    "v": Types.INT(),
    "w": Types.INT(),
    "s": Types.STRING(),
    "t": Types.STRING(),
}


def main() -> None:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    tables = StreamTableEnvironment.create(environment)
    tables.get_config().set("restart-strategy.type", "disable")
    rows = [Row(*tick[:5], _text(tick[5])) for tick in TICKS]
    stream = environment.from_collection(rows, Types.ROW_NAMED(list(_TYPES), list(_TYPES.values())))
    for name in ("ticks", "arrivals"):
        schema = Schema.new_builder()
        for column in ("k STRING", "id INT", "v INT", "w INT", "s STRING", "t STRING"):
            schema = schema.column(*column.split())
        if name == "ticks":
            schema = schema.column_by_expression("ts", "CAST(t AS TIMESTAMP(3))")
            schema = schema.watermark("ts", f"ts - INTERVAL '{DISORDER}' SECOND")
        else:
            schema = schema.column_by_expression("pt", "PROCTIME()")
        tables.create_temporary_view(name, tables.from_data_stream(stream, schema.build()))
    tables.create_temporary_view("matched", tables.sql_query(MATCHED))
    answers: dict[str, list[list[str | None]] | str] = _known()
    for asked in _batches(answers):
        taken = []
        for query in asked:
            refusal = None if query in RANDOM else _refusal(tables, query)
            if refusal is None:
                taken.append(query)
            else:
                answers[query] = refusal
        answers.update(_answers(tables, taken))
        _write(answers)
        print(len(answers), asked[-1], str(answers[asked[-1]])[:300], flush=True)  # noqa: T201


def _batches(known: Container[str]) -> Iterator[list[str]]:
    """Yield the queries of each job.

    A query that fails has a job of its own, and so has a query of `WRITTEN` with WITHIN: if two
    queries of a job differ only in WITHIN, Flink's planner treats them as the same query.
    """
    limited = [query for query in WRITTEN if "WITHIN" in query]
    plain = [query for query in WRITTEN if "WITHIN" not in query]
    for queries, size in ((plain, _AT_ONCE), (limited, 1), (FAILING, 1), (RANDOM, _AT_ONCE)):
        rest = [query for query in queries if query not in known]
        for start in range(0, len(rest), size):
            yield rest[start : start + size]


def _known() -> dict:
    """Return the answers of an earlier run to queries that still exist."""
    if not _TARGET.exists():
        return {}
    answers = json.loads(_TARGET.read_text(encoding="utf-8"))["answers"]
    return {q: answers[q] for q in (*RANDOM, *WRITTEN, *FAILING) if q in answers}


def _write(answers: dict) -> None:
    order = [q for q in (*WRITTEN, *FAILING, *RANDOM) if q in answers]
    record = {"flink": version("apache-flink"), "answers": {q: answers[q] for q in order}}
    text = json.dumps(record).replace(', "SELECT', ',\n"SELECT')
    _TARGET.write_text(text + "\n", encoding="utf-8")


def _text(seconds: float) -> str:
    moment = datetime(2026, 1, 1) + timedelta(seconds=seconds)
    return moment.isoformat(sep=" ", timespec="milliseconds")


def _refusal(tables: StreamTableEnvironment, query: str) -> str | None:
    try:
        tables.explain_sql(query)
    except Exception as error:
        return _reason(error)
    return None


def _answers(tables: StreamTableEnvironment, queries: list[str]) -> dict:
    """Run queries in one job, and return their rows, as texts, or the error of a query.

    A row of the job has the number of its query in the first column. A job that fails is split into
    two jobs.
    """
    if not queries:
        return {}
    schemas = [tables.sql_query(query).get_schema().get_field_names() for query in queries]
    width = max(map(len, schemas))
    parts = []
    for i, (query, names) in enumerate(zip(queries, schemas, strict=True)):
        columns = [f"CAST(`{name}` AS STRING)" for name in names]
        columns += ["CAST(NULL AS STRING)"] * (width - len(names))
        parts.append(f"SELECT {i} AS q, {', '.join(columns)} FROM ({query})")
    found: dict = {query: [] for query in queries}
    try:
        with tables.execute_sql(" UNION ALL ".join(parts)).collect() as rows:
            for number, *values in rows:
                found[queries[number]].append(values[: len(schemas[number])])
    except Exception as error:
        if len(queries) == 1:
            return {queries[0]: _reason(error)}
        half = len(queries) // 2
        return {**_answers(tables, queries[:half]), **_answers(tables, queries[half:])}
    return found


def _reason(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if "Exception:" in line]
    return lines[-1].split("Exception: ", 1)[1] if lines else str(error)[:300]


if __name__ == "__main__":
    main()
