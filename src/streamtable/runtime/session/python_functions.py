"""Registration of a script's Python functions in Spark: the only place where Python runs per row.

The functions run as Python UDFs in worker processes of Spark's tasks. They use Arrow if pyarrow and
pandas are installed. The module of a function is pickled by value. Files of `python.files`, which
the module may import, are added to the session.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import DataType as SparkType

from streamtable import common, udaf
from streamtable.catalog.functions import PythonFunction, of_live_rows
from streamtable.runtime.session import aggregate_program, live_rows, plain_values, scalar_program
from streamtable.runtime.session.python_archives import archive_of
from streamtable.udaf import UserDefinedAggregateFunction
from streamtable.udf import UserDefinedFunction, UserDefinedTableFunction


def register_python(
    functions: Sequence[PythonFunction], files: Sequence[str], spark: SparkSession
) -> None:
    """Register every Python function under its Spark name.

    Args:
        functions: the functions that plans may call.
        files: directories, `.py` and `.zip` files that the functions import.
        spark: the session that runs the plans.
    """
    if not functions:
        return
    for own in (aggregate_program, live_rows, scalar_program, plain_values, udaf, common):
        # Workers may lack the package.
        cloudpickle.register_pickle_by_value(own)  # type: ignore[no-untyped-call]
    for file in map(Path, files):
        spark.sparkContext.addPyFile(str(archive_of(file) if file.is_dir() else file))
    for function in functions:
        module = importlib.import_module(function.module)
        _pickle_by_value(module)
        found: Any = function.given or getattr(module, function.attribute)
        if function.signature.is_aggregate:
            spark.udf.register(function.spark_name, _aggregate(function, found))
            continue
        marked = isinstance(found, UserDefinedFunction | UserDefinedTableFunction)
        call = found.function if marked else found
        spark.udf.register(function.spark_name, _scalar(function, call))
        if not function.signature.is_table:
            twin = _scalar(function, call, of_live_rows=True)
            spark.udf.register(of_live_rows(function.spark_name), twin)


def _pickle_by_value(module: ModuleType) -> None:
    standard = module.__name__.partition(".")[0] in sys.stdlib_module_names
    if not standard and not _installed(getattr(module, "__file__", None)):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _aggregate(function: PythonFunction, found: Any) -> Any:
    """Return a UDF that aggregates an array of rows; operators run its function incrementally."""
    signature = function.signature
    assert signature.accumulator is not None, "an aggregate function"  # noqa: S101
    program = aggregate_program.AggregateProgram(
        function.name,
        found.function if isinstance(found, UserDefinedAggregateFunction) else found,
        SparkType.fromDDL(signature.accumulator.spark_sql()),
        SparkType.fromDDL(signature.result.spark_sql()),
    )
    return udf(program, returnType=signature.result.spark_sql(), useArrow=False)


def _scalar(
    function: PythonFunction, call: Callable[..., Any], *, of_live_rows: bool = False
) -> Any:
    """Return a UDF of a scalar or table function, or its twin that a delete does not call."""
    signature = function.signature
    result = signature.result.spark_sql()
    kind = SparkType.fromDDL(result)
    if signature.vectorised:
        program = live_rows.VectorisedTwin(call, kind) if of_live_rows else call
        wrapped = _vectorised(program, result)
    else:
        program = scalar_program.ScalarProgram(function.name, call, kind, signature.is_table)
        if of_live_rows:
            program = live_rows.Twin(program)
        wrapped = udf(program, returnType=result, useArrow=_has_arrow())
    return wrapped if signature.deterministic else wrapped.asNondeterministic()


def _vectorised(call: Callable[..., Any], result: str) -> Any:
    """Return a UDF of a function over pandas objects; its type hints, if any, are not read."""
    from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

    with warnings.catch_warnings():  # about hints, which Spark prefers to the explicit kind
        warnings.simplefilter("ignore", UserWarning)
        return pandas_udf(call, returnType=result, functionType=PandasUDFType.SCALAR)


def _has_arrow() -> bool:
    """Whether Spark can transfer rows with Arrow, which needs both pyarrow and pandas."""
    return all(importlib.util.find_spec(name) is not None for name in ("pyarrow", "pandas"))


def _installed(file: str | None) -> bool:
    """Whether every Python process can import the module without `python.files`."""
    return file is None or any(
        part in ("site-packages", "lib-dynload") for part in Path(file).parts
    )
