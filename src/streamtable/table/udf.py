"""PyFlink's module of `udf`, `udtf`, `udaf` and their classes; see `streamtable.udf`."""

from streamtable.udf import (
    AggregateFunction,
    UserDefinedAggregateFunction,
    UserDefinedFunction,
    UserDefinedTableFunction,
    udaf,
    udf,
    udtf,
)

__all__ = [
    "AggregateFunction",
    "UserDefinedAggregateFunction",
    "UserDefinedFunction",
    "UserDefinedTableFunction",
    "udaf",
    "udf",
    "udtf",
]
