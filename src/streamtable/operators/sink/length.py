"""`table.exec.sink.type-length-enforcer`: enforces the lengths of column types in sinks."""

from __future__ import annotations

from streamtable.core.settings.table import TypeLengthEnforcer
from streamtable.core.types import BYTES_ROOTS, Field, Root, quote

_FIXED = (Root.CHAR, Root.BINARY)


def with_length(field: Field, enforcer: TypeLengthEnforcer, table: str) -> str:
    """Return a sink column with enforced length, as Spark SQL, under its name.

    Args:
        field: column of the sink. A column whose type has no length stays unchanged.
        enforcer: TRIM_PAD trims and pads; ERROR ends the job with a message that names the column.
        table: for the message.
    """
    name, kind = quote(field.name), field.type
    length = kind.precision
    if not kind.has_length:
        return name
    fixed = kind.root in _FIXED
    if enforcer is TypeLengthEnforcer.TRIM_PAD:
        pad = "X'00'" if kind.root in BYTES_ROOTS else "' '"
        fitted = f"rpad({name}, {length}, {pad})" if fixed else f"substring({name}, 1, {length})"
        return f"{fitted} AS {name}"
    size = f"octet_length({name})" if kind.root in BYTES_ROOTS else f"char_length({name})"
    wanted = kind.with_nullable(True).sql()
    text = (
        f"RECORD_UNWRITABLE column ''{field.name}'' of {table} is {wanted}, but the query returns"
    )
    found = f"concat('{text} a value of length ', {size})"
    misfit = f"{size} {'<>' if fixed else '>'} {length}"
    return f"if({misfit}, raise_error({found}), {name}) AS {name}"
