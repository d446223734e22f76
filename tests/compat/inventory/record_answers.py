"""Ask a real Flink whether it accepts the cases of `statements.sql` and `clauses.sql`.

Run it in its own Python environment, never the product's, with the jar of the Kafka connector:

    python3 -m venv F && F/bin/pip install apache-flink==2.2.*
    PYTHONPATH=. F/bin/python -m tests.compat.inventory.record_answers flink-sql-connector-kafka.jar

Writes `answers.json`: case -> "" if Flink plans the query or parses the statement, else the first
line of Flink's refusal. The last statement of a case is parsed, not run, if it is not a query: some
statements exist only in Flink's client.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
_CASE = re.compile(r"^-- case: (.*)\n((?:(?!-- (?:case|chapter): ).*\n?)*)", re.MULTILINE)
_CAUSE = re.compile(r"(?:Caused by: |(?:^|\s): )[\w.$]+(?:Exception|Error): ([^\n]*)")
_QUERY = re.compile(r"(?:SELECT|VALUES|WITH|TABLE|INSERT INTO) ")


def answer(environment: TableEnvironment, tables: str, example: str) -> str:
    """Return Flink's refusal of a script; empty if Flink accepts the script."""
    database = f"d{time.monotonic_ns()}"
    environment.execute_sql(f"CREATE DATABASE default_catalog.{database}")
    environment.execute_sql(f"USE default_catalog.{database}")
    for statement in _statements(tables):
        environment.execute_sql(statement)
    *before, last = _statements(example)
    try:
        for statement in before:
            environment.execute_sql(statement)
        if _QUERY.match(last):
            environment.explain_sql(last)
        else:
            environment._j_tenv.getParser().parse(last)
    except Exception as error:  # of any kind: the error is the answer
        causes = _CAUSE.findall(str(error))
        return " ".join((causes[-1] if causes else str(error)).split())
    return ""


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.startswith("-- ")]
    return [part.strip() for part in re.split(r";\s*\n", "\n".join(lines) + "\n") if part.strip()]


def main() -> None:
    """Record the answers of all cases."""
    tables = (HERE / "tables.sql").read_text(encoding="utf-8")
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("pipeline.jars", f"file://{Path(sys.argv[1]).resolve()}")
    found = {}
    for name in ("statements", "clauses"):
        for case, example in _CASE.findall((HERE / f"{name}.sql").read_text(encoding="utf-8")):
            if "-- unrecorded: " not in example:
                found[case] = answer(environment, tables, example)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (HERE / "answers.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
