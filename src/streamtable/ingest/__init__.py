"""Data ingestion jobs: a YAML file that copies MySQL tables into Kafka topics as upserts.

`job_file` reads and checks the file, without Spark. `run` starts the job, `check` examines source
and sink before a start, and `verify` compares tables with topics.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from streamtable.core.errors import Condition, StreamtableError

#: Suffixes of job files; other files are SQL scripts.
SUFFIXES = (".yaml", ".yml")


def is_job_file(path: Path) -> bool:
    """Return whether a file is a job file, by its suffix."""
    return path.suffix.lower() in SUFFIXES


def require_reader() -> None:
    """Check that the packages of the MySQL reader are installed.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE.
    """
    for module in ("pymysql", "pymysqlreplication", "pyarrow"):
        if find_spec(module) is None:
            raise StreamtableError(
                Condition.RESOURCE_UNAVAILABLE,
                what="the reader of MySQL",
                reason=f"package {module} is not installed",
                hint="pip install 'streamtable[mysql]'",
            )
