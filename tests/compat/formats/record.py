"""Ask a real Flink for the answers: `python record.py VERSION CLASSPATH`.

PYTHONPATH is `src:.`. CLASSPATH holds the jars of the wheel `apache-flink-libraries` and of Flink's
`flink-sql-avro-confluent-registry`, which contains its avro format. Writes `flink-VERSION.json`.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

from cases import all_cases
from tests.compat.asking import ask

HERE = Path(__file__).parent


def main() -> None:
    """Run every case through Flink's own classes."""
    version, classpath = sys.argv[1:]
    asked = [
        {
            "id": case.id,
            "format": case.format,
            "type": case.row_type,
            "options": case.options,
            "value": base64.b64encode(case.value).decode(),
        }
        for case in all_cases()
    ]
    target = HERE / f"flink-{version}.json"
    ask(HERE / "FlinkAnswers.java", asked, version, classpath, target)


if __name__ == "__main__":
    main()
