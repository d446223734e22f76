"""Asks a real Flink for the answers: `python record_changes.py VERSION CLASSPATH`, PYTHONPATH=src.

CLASSPATH holds the jars of the wheel `apache-flink-libraries`. Writes `changes-flink-VERSION.json`.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

from change_cases import all_cases

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
            "metadata": case.metadata,
            "value": base64.b64encode(case.value).decode(),
        }
        for case in all_cases()
    ]
    if len({case["id"] for case in asked}) != len(asked):
        sys.exit("two cases have one id")
    run = subprocess.run(
        ["java", "-cp", classpath, str(HERE / "ChangeAnswers.java")],
        input="".join(json.dumps(case) + "\n" for case in asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in run.stdout.split("\n") if line]
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
    text = f'{{"flink": "{version}", "cases": [\n{lines}\n]}}\n'
    (HERE / f"changes-flink-{version}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
