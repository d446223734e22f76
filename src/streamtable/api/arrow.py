"""Rows as Arrow tables and pandas DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamtable.api.family import refuse_call
from streamtable.core.types import DataType, Field, Root

_INSTALL = "pip install 'streamtable[pandas]'"


def arrow_table(rows: Sequence[Sequence[Any]], fields: Sequence[Field], call: str) -> Any:
    """Return a `pyarrow.Table` with one column per field.

    Args:
        rows: Python values, as `python_row` returns them.
        fields: names and types of the columns.
        call: the user's call, for messages.

    Raises:
        StreamtableError: INVALID_CALL if pyarrow is not installed.
    """
    pa = arrow_module(call)
    arrays = [
        pa.array([_plain(row[place]) for row in rows], type=_arrow_type(field.type, pa))
        for place, field in enumerate(fields)
    ]
    # Types of two columns may share a name, which a mapping could not hold.
    return pa.Table.from_arrays(arrays, names=[field.name for field in fields])


def pandas_frame(rows: Sequence[Sequence[Any]], fields: Sequence[Field], call: str) -> Any:
    """Return a `pandas.DataFrame` with one column per field.

    Raises:
        StreamtableError: INVALID_CALL if pyarrow or pandas is not installed.
    """
    table = arrow_table(rows, fields, call)
    try:
        return table.to_pandas()
    except ImportError:
        refuse_call(call, "pandas is not installed", _INSTALL)


def arrow_module(call: str) -> Any:
    """Return the module pyarrow; INVALID_CALL if it is not installed."""
    try:
        import pyarrow as pa
    except ImportError:
        refuse_call(call, "pyarrow is not installed", _INSTALL)
    return pa


def _plain(value: Any) -> Any:
    """Return a value as pyarrow takes it: a map as pairs, a row by its places."""
    if isinstance(value, dict):
        return [(_plain(k), _plain(v)) for k, v in value.items()]
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if hasattr(value, "as_dict"):
        return {name: _plain(each) for name, each in value.as_dict().items()}
    return value


def _arrow_type(kind: DataType, pa: Any) -> Any:
    digits = kind.precision or 0
    match kind.root:
        case Root.DECIMAL:
            return pa.decimal128(kind.precision, kind.scale)
        case Root.TIMESTAMP:
            return pa.timestamp(_unit(digits))
        case Root.TIMESTAMP_LTZ:
            return pa.timestamp(_unit(digits), tz="UTC")
        case Root.TIME:
            return pa.time32(_unit(digits)) if digits <= 3 else pa.time64("us")
        case Root.ARRAY if kind.element is not None:
            return pa.list_(_arrow_type(kind.element, pa))
        case Root.MULTISET if kind.element is not None:
            return pa.map_(_arrow_type(kind.element, pa), pa.int32())
        case Root.MAP if kind.key is not None and kind.element is not None:
            return pa.map_(_arrow_type(kind.key, pa), _arrow_type(kind.element, pa))
        case Root.ROW:
            return pa.struct([(f.name, _arrow_type(f.type, pa)) for f in kind.fields])
        case _:
            return _simple(kind.root, pa)


def _unit(digits: int) -> str:
    """Return the unit of fractional seconds; Spark keeps microseconds."""
    return "s" if digits == 0 else "ms" if digits <= 3 else "us"


def _simple(root: Root, pa: Any) -> Any:
    return {
        Root.CHAR: pa.string(),
        Root.VARCHAR: pa.string(),
        Root.BOOLEAN: pa.bool_(),
        Root.BINARY: pa.binary(),
        Root.VARBINARY: pa.binary(),
        Root.BITMAP: pa.binary(),
        Root.TINYINT: pa.int8(),
        Root.SMALLINT: pa.int16(),
        Root.INT: pa.int32(),
        Root.BIGINT: pa.int64(),
        Root.FLOAT: pa.float32(),
        Root.DOUBLE: pa.float64(),
        Root.DATE: pa.date32(),
        Root.INTERVAL_DAY_TIME: pa.duration("us"),
        Root.NULL: pa.null(),
    }[root]
