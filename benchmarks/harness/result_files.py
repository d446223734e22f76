"""Files in `benchmarks/results`: a table for readers, and its figures for later runs."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark

from benchmarks.engines import flink

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RESULTS = Path(__file__).parents[1] / "results"


def write(
    name: str, table: str, figures: Sequence[DataclassInstance], indent: int | None = 1
) -> None:
    """Write `NAME.md` with the table, and `NAME.json` with the figures."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(table)
    data = json.dumps([asdict(f) for f in figures], indent=indent)
    (RESULTS / f"{name}.json").write_text(data + "\n")


def read(name: str) -> list[dict[str, Any]]:
    """Return the figures of earlier runs, as dictionaries; none without `NAME.json`."""
    file = RESULTS / f"{name}.json"
    found: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    return found


def versions() -> str:
    """Name the versions of both engines and of Python."""
    return (
        f"Spark {pyspark.__version__}, Flink {flink.VERSION}, Python {platform.python_version()}."
    )
