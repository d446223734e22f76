"""Ask a real Flink for the options of formats: `python record_options.py VERSION CLASSPATH`.

CLASSPATH holds the jars of the wheel `apache-flink-libraries` and of Flink's
`flink-sql-avro-confluent-registry`. Writes `options-flink-VERSION.json`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FORMATS = (
    "json",
    "csv",
    "raw",
    "avro",
    "avro-confluent",
    "debezium-avro-confluent",
    "debezium-json",
    "canal-json",
    "maxwell-json",
    "ogg-json",
    "protobuf",
)


def main() -> None:
    """Record options and metadata of every format of Flink that streamtable has, too."""
    version, classpath = sys.argv[1:]
    run = subprocess.run(
        ["java", "-cp", classpath, str(HERE / "FlinkOptions.java"), *FORMATS],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = {"flink": version, "formats": json.loads(run.stdout)}
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (HERE / f"options-flink-{version}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
