"""PyFlink's module of the decorators `udf` and `udtf`; see `streamtable.udf`."""

from streamtable.udf import UserDefinedFunction, UserDefinedTableFunction, udf, udtf

__all__ = ["UserDefinedFunction", "UserDefinedTableFunction", "udf", "udtf"]
