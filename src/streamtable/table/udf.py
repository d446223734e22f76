"""PyFlink's module of the decorator `udf`; see `streamtable.udf`."""

from streamtable.udf import UserDefinedFunction, udf

__all__ = ["UserDefinedFunction", "udf"]
