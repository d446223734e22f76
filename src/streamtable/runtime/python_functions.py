"""Python functions of a script made known to Spark: the one place where Python runs per row.

They run as Python UDFs in processes beside Spark's tasks, by Arrow where pyarrow and pandas are
installed. A function's own module travels by value; what it imports from `python.files` is added to
the session.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from streamtable.catalog.functions import PythonFunction
from streamtable.udf import UserDefinedFunction


def register(
    functions: Sequence[PythonFunction], files: Sequence[str], spark: SparkSession
) -> None:
    """Registers every function under its Spark name.

    Args:
        functions: those that plans may call.
        files: folders, `.py` and `.zip` files with what they import.
        spark: the session that runs the plans.
    """
    if not functions:
        return
    for file in files:
        spark.sparkContext.addPyFile(str(_archive(Path(file))))
    for function in functions:
        module = importlib.import_module(function.module)
        if not _installed(module.__file__):
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        found = getattr(module, function.attribute)
        call = found.function if isinstance(found, UserDefinedFunction) else found
        result = function.signature.result.spark_sql()
        wrapped = udf(call, returnType=result, useArrow=_has_arrow())
        if not function.signature.deterministic:
            wrapped = wrapped.asNondeterministic()
        spark.udf.register(function.spark_name, wrapped)


def _has_arrow() -> bool:
    """Whether Spark can hand rows over by Arrow, which needs both of these."""
    return all(importlib.util.find_spec(name) is not None for name in ("pyarrow", "pandas"))


def _installed(file: str | None) -> bool:
    """Whether every Python process finds the module by itself."""
    return file is None or any(
        part in ("site-packages", "lib-dynload") for part in Path(file).parts
    )


def _archive(file: Path) -> Path:
    """What Spark can send to its workers: a folder as a zip file."""
    if not file.is_dir():
        return file
    folder = tempfile.mkdtemp(prefix="streamtable-python-")
    return Path(shutil.make_archive(str(Path(folder, file.name)), "zip", file))
