"""`table.exec.sink.type-length-enforcer`: values as long as their column's type says."""

from __future__ import annotations

from streamtable.core.settings import TypeLengthEnforcer
from streamtable.core.types import BYTES_ROOTS, CHARACTER, MAX_LENGTH, Field, Root, quote

_FIXED = (Root.CHAR, Root.BINARY)


def with_length(field: Field, enforcer: TypeLengthEnforcer, table: str) -> str:
    """A column of a sink as Spark SQL, under its name.

    Args:
        field: of the sink; one whose type has no length passes as it is.
        enforcer: TRIM_PAD cuts and pads; ERROR ends the job with a message that names the column.
        table: for the message.
    """
    name, kind = quote(field.name), field.type
    length = kind.precision
    if kind.root not in CHARACTER | BYTES_ROOTS or length is None or length == MAX_LENGTH:
        return name
    fixed = kind.root in _FIXED
    if enforcer is TypeLengthEnforcer.TRIM_PAD:
        pad = "X'00'" if kind.root in BYTES_ROOTS else "' '"
        fitted = f"rpad({name}, {length}, {pad})" if fixed else f"substring({name}, 1, {length})"
        return f"{fitted} AS {name}"
    size = f"octet_length({name})" if kind.root in BYTES_ROOTS else f"char_length({name})"
    wanted = kind.with_nullable(True).sql()
    text = f"RECORD_UNWRITABLE column ''{field.name}'' of {table} is {wanted}, but the query gives"
    found = f"concat('{text} a value of length ', {size})"
    misfit = f"{size} {'<>' if fixed else '>'} {length}"
    return f"if({misfit}, raise_error({found}), {name}) AS {name}"
