"""Asks a Flink for the names it registers: `python record_function_names.py VERSION CLASSPATH`.

CLASSPATH holds the jars of the wheel `apache-flink-libraries`, and before them the
`flink-table-planner.jar` that lies inside of its planner loader. Writes
`function_names-VERSION.txt`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Writes one name a line."""
    version, classpath = sys.argv[1:]
    run = subprocess.run(
        ["java", "-cp", classpath, str(HERE / "FlinkFunctions.java")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    names = [line for line in run.stdout.splitlines() if line]
    text = f"# Flink {version}\n" + "".join(f"{name}\n" for name in names)
    (HERE / f"function_names-{version}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
