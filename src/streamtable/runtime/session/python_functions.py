"""Registration of a script's Python functions in Spark: the only place where Python runs per row.

The functions run as Python UDFs in worker processes of Spark's tasks. They use Arrow if pyarrow and
pandas are installed. The module of a function is pickled by value. Files of `python.files`, which
the module may import, are added to the session.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from streamtable.catalog.functions import PythonFunction
from streamtable.udf import UserDefinedFunction


def register(
    functions: Sequence[PythonFunction], files: Sequence[str], spark: SparkSession
) -> None:
    """Register every function under its Spark name.

    Args:
        functions: the functions that plans may call.
        files: directories, `.py` and `.zip` files that the functions import.
        spark: the session that runs the plans.
    """
    if not functions:
        return
    for file in files:
        spark.sparkContext.addPyFile(str(_archive(Path(file))))
    for function in functions:
        module = importlib.import_module(function.module)
        if not _installed(getattr(module, "__file__", None)):
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        found: Any = function.given or getattr(module, function.attribute)
        call = found.function if isinstance(found, UserDefinedFunction) else found
        result = function.signature.result.spark_sql()
        wrapped = udf(call, returnType=result, useArrow=_has_arrow())
        if not function.signature.deterministic:
            wrapped = wrapped.asNondeterministic()
        spark.udf.register(function.spark_name, wrapped)


def _has_arrow() -> bool:
    """Whether Spark can transfer rows with Arrow, which needs both pyarrow and pandas."""
    return all(importlib.util.find_spec(name) is not None for name in ("pyarrow", "pandas"))


def _installed(file: str | None) -> bool:
    """Whether every Python process can import the module without `python.files`."""
    return file is None or any(
        part in ("site-packages", "lib-dynload") for part in Path(file).parts
    )


def _archive(file: Path) -> Path:
    """Return a file that Spark can send to its workers: a directory becomes a zip file."""
    if not file.is_dir():
        return file
    folder = tempfile.mkdtemp(prefix="streamtable-python-")
    return Path(shutil.make_archive(str(Path(folder, file.name)), "zip", file))
