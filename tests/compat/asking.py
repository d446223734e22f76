"""Ask Flink's own classes: a Java program reads cases and writes answers, as lines of JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def ask(
    program: Path, cases: Sequence[Mapping[str, Any]], version: str, classpath: str, target: Path
) -> None:
    """Run a Java source file over the cases and write its answers to a file.

    Args:
        program: the source file; it reads cases and writes answers in the same order.
        cases: each with a unique `id`.
        version: Flink's version, written to the file.
        classpath: of the program.
        target: file of the answers.
    """
    ids = [case["id"] for case in cases]
    if len(set(ids)) != len(ids):
        sys.exit(f"two cases have one id: {sorted({i for i in ids if ids.count(i) > 1})}")
    run = subprocess.run(
        ["java", "-cp", classpath, str(program)],
        input="".join(json.dumps(case) + "\n" for case in cases),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in run.stdout.split("\n") if line]
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
    text = f'{{"flink": "{version}", "cases": [\n{lines}\n]}}\n'
    target.write_text(text, encoding="utf-8")
