"""Ask a Flink for its function names: `python record_function_names.py VERSION CLASSPATH`.

CLASSPATH holds the `flink-table-planner.jar` inside the planner loader of the wheel
`apache-flink-libraries`, and after it the jars of this wheel. Writes `function_names-VERSION.txt`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Write one name per line."""
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
