"""Run Nexmark's queries on PyFlink and record their final rows.

    python tests/compat/nexmark/record.py      # a Python with apache-flink

The answers go to `answers.json`, with Flink's version: for each query its rows as sorted texts.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from events import history
from pyflink.common import RowKind
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udf
from queries import EVENTS, QUERIES, VIEWS, columns_of, count_char

_SETTINGS = {
    "table.local-time-zone": "UTC",
    "parallelism.default": "1",
    # The watermark moves with every row, so that the same rows are late in every run.
    "pipeline.auto-watermark-interval": "0 ms",
}


def main() -> None:
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in _SETTINGS.items():
        tables.get_config().set(key, value)
    tables.create_temporary_function("count_char", udf(count_char, result_type="BIGINT"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.json"
        lines = [json.dumps(event) for part in history() for _, event in part]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        connector = f"'connector' = 'filesystem', 'path' = '{file}', 'format' = 'json'"
        tables.execute_sql(EVENTS.format(connector=connector))
        for view in VIEWS:
            tables.execute_sql(view)
        answers = {}
        for name, (columns, key, query) in QUERIES.items():
            names = [name for name, _ in columns_of(columns)]
            answers[name] = _rows(tables, query.replace("{lookup}", ""), names, key)
            print(name, len(answers[name]), flush=True)  # noqa: T201
    target = Path(__file__).with_name("answers.json")
    record = {"flink": version("apache-flink"), "answers": answers}
    target.write_text(json.dumps(record, indent=0) + "\n", encoding="utf-8")


def _rows(
    tables: TableEnvironment, query: str, names: list[str], key: tuple[str, ...]
) -> list[str]:
    """Return the final rows; for a result with a key, Flink may omit the old rows of updates."""
    table: Counter[str] = Counter()
    keyed: dict[tuple, str] = {}
    with tables.execute_sql(query).collect() as rows:
        for row in rows:
            added = row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER)
            values = dict(zip(names, row, strict=True))
            text = json.dumps([v if v is None else str(v) for v in row])
            table[text] += 1 if added else -1
            if added:
                keyed[tuple(values[k] for k in key)] = text
            else:
                keyed.pop(tuple(values[k] for k in key), None)
    return sorted(keyed.values() if key else table.elements())


if __name__ == "__main__":
    main()
