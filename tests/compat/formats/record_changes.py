"""Ask a real Flink for the answers: `python record_changes.py VERSION CLASSPATH`.

PYTHONPATH is `src:.`. CLASSPATH holds the jars of the wheel `apache-flink-libraries`. Writes
`changes-flink-VERSION.json`.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

from change_cases import all_cases
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
            "metadata": case.metadata,
            "value": base64.b64encode(case.value).decode(),
        }
        for case in all_cases()
    ]
    target = HERE / f"changes-flink-{version}.json"
    ask(HERE / "ChangeAnswers.java", asked, version, classpath, target)


if __name__ == "__main__":
    main()
