"""Ask a real Flink for the output of the cases of `cases.sql`; write it to `answers.json`.

Run it in its own Python environment, never the product's, with the jar of the Kafka connector:

    python3 -m venv F && F/bin/pip install apache-flink==2.2.0
    F/bin/python tests/compat/statements/record.py flink-sql-connector-kafka-5.0.0-2.2.jar

The answer of a case is the output of its last statement, or `error` with Flink's message. The
INSERT of a CREATE TABLE AS is not run: only the table is created, as `EXPLAIN` would see it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.version import __version__

HERE = Path(__file__).parent
_CASE = re.compile(r"^-- case: (.*)\n((?:(?!-- case: ).*\n)*)", re.MULTILINE)
_CAUSE = re.compile(
    r"(?:(?:^|\s): |Caused by: )[\w.$]+(?:Exception|Error): "
    r"(.*?)(?=\s+at [\w.$]+\(|\s+at org\.|\Z)",
    re.DOTALL,
)
_CREATE_AS = re.compile(r"CREATE (TEMPORARY )?TABLE .* AS SELECT", re.DOTALL)


def printed(environment: TableEnvironment, statement: str) -> str:
    """Return the text that Flink prints for a statement."""
    java = environment._j_tenv
    if _CREATE_AS.match(statement):
        (operation,) = java.getParser().parse(statement)
        java.executeInternal(operation.getCreateTableOperation())
        return ""
    result = java.executeSql(statement)
    if statement.startswith("SHOW CREATE"):
        # The only cell has many lines; the printed frame around it adds nothing.
        return str(result.collect().next().getField(0))
    bytes_out = get_gateway().jvm.java.io.ByteArrayOutputStream()
    # `print` always writes to the standard output of the JVM, so the output is redirected.
    stream = get_gateway().jvm.java.io.PrintStream(bytes_out)
    system = get_gateway().jvm.java.lang.System
    before = system.out
    system.setOut(stream)
    try:
        result.print()
    finally:
        system.setOut(before)
    return str(bytes_out.toString())


def answer(statements: list[str]) -> dict[str, str]:
    """Return the output of the last statement, or the error of the statement that failed."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("pipeline.jars", f"file://{Path(sys.argv[1]).resolve()}")
    text = ""
    for number, statement in enumerate(statements):
        try:
            text = printed(environment, statement)
        except Exception as error:
            causes = _CAUSE.findall(str(error))
            said = " ".join((causes[-1] if causes else str(error)).split())
            return {"error": said, "statement": str(number + 1)}
    return {"prints": text}


def main() -> None:
    """Record the answers."""
    cases = {
        name: [part.strip() for part in sql.split(";\n") if part.strip()]
        for name, sql in _CASE.findall((HERE / "cases.sql").read_text())
    }
    answers = {name: answer(statements) for name, statements in cases.items()}
    found = {"flink": __version__, "answers": answers}
    (HERE / "answers.json").write_text(json.dumps(found, indent=1) + "\n")


main()
