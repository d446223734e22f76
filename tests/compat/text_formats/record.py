"""Asks a real Flink for the answers: `python record.py VERSION CLASSPATH`, with PYTHONPATH=src.

CLASSPATH holds the jars of the wheel `apache-flink-libraries` and of Flink's
`flink-sql-avro-confluent-registry`, which carries its avro format. Writes `flink-VERSION.json`.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

from cases import all_cases

HERE = Path(__file__).parent


def main() -> None:
    """Sends every case through Flink's own classes."""
    version, classpath = sys.argv[1:]
    asked = [
        {
            "id": case.id,
            "format": case.format,
            "type": case.row_type,
            "options": case.options,
            "from": case.start or case.format,
            "writer": case.writer,
            "value": base64.b64encode(case.value).decode(),
        }
        for case in all_cases()
    ]
    ids = [case["id"] for case in asked]
    if len(set(ids)) != len(ids):
        sys.exit(f"two cases have one id: {sorted({i for i in ids if ids.count(i) > 1})}")
    run = subprocess.run(
        ["java", "-cp", classpath, str(HERE / "FlinkAnswers.java")],
        input="".join(json.dumps(case) + "\n" for case in asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in run.stdout.split("\n") if line]
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
    text = f'{{"flink": "{version}", "cases": [\n{lines}\n]}}\n'
    (HERE / f"flink-{version}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
