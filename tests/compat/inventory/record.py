"""Ask a Flink for its features: `python -m tests.compat.inventory.record PLANNER_JAR JAR...`.

The jars are those of the wheel `apache-flink-libraries` (`lib`, without the planner loader, and
`flink-python` and `flink-sql-client` of `opt`), the `flink-table-planner.jar` inside its planner
loader, and the SQL jars of the Kafka connector and of Confluent's Avro. Writes
`statement_classes.txt` and `factories.txt` next to this file.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
_STATEMENT = re.compile(
    r"org/apache/flink/sql/parser/(?:ddl|dml|dql)/(?:\w+/)*((?:Rich)?Sql\w+)\.class"
)


def main() -> None:
    """Write both lists."""
    planner, *jars = sys.argv[1:]
    with zipfile.ZipFile(planner) as classes:
        found = {match[1] for name in classes.namelist() if (match := _STATEMENT.fullmatch(name))}
    _write("statement_classes.txt", sorted(found))
    run = subprocess.run(
        ["java", "-cp", ":".join([planner, *jars]), str(HERE.parent / "FlinkFactories.java")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    _write("factories.txt", run.stdout.splitlines())


def _write(name: str, lines: list[str]) -> None:
    (HERE / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
