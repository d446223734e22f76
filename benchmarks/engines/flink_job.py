"""Run a script to its end with PyFlink, in its own environment: `flink_job.py SPEC.json`.

SPEC: `jars` (paths), `settings` (Flink's options), `script` (statements separated by `;`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment


def main() -> None:
    """Run the script."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    config = env.get_config()
    config.set("pipeline.jars", ";".join(f"file://{jar}" for jar in spec["jars"]))
    for key, value in spec["settings"].items():
        config.set(key, value)
    inserts = env.create_statement_set()
    for statement in filter(None, (text.strip() for text in spec["script"].split(";"))):
        if statement.startswith("INSERT"):
            inserts.add_insert_sql(statement)
        else:
            env.execute_sql(statement)
    inserts.execute().wait()


main()
