"""Casts between the declared type of a metadata column and the connector's type.

Source of the rule: Flink's *CREATE TABLE* page, section *Metadata Columns*. A scan casts explicitly
from the connector's type, a sink to it. A pair of types without a cast is refused.
"""

from __future__ import annotations

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import MetadataColumn, Table
from streamtable.core.types import DataType, Field
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.casts import explicit_cast
from streamtable.plan.query.relation import bound_field


def read_metadata(column: MetadataColumn, table: Table) -> Bound:
    """Cast the connector's metadata field to the declared type of the column.

    Raises:
        StreamtableError: METADATA_TYPE if Flink has no such cast, NOT_YET if only streamtable lacks
            the cast.
    """
    held = table.connector.metadata_type(column.key)
    hint = f"declare it {held.with_nullable(True)}, and convert it in the query"
    return _cast(column, held, column.type, "there is no cast for reading it", hint)


def written_metadata(table: Table) -> dict[str, str]:
    """Return the Spark SQL that casts each written metadata column to the connector's type.

    Raises:
        StreamtableError: METADATA_READ_ONLY for a key that cannot be written, and the errors of
            `read_metadata`.
    """
    writable = table.connector.writable_metadata
    casts = {}
    for column in table.schema.metadata:
        if column.virtual:
            continue
        if column.key not in writable:
            raise StreamtableError(
                Condition.METADATA_READ_ONLY,
                at=column.at,
                column=column.name,
                key=column.key,
                hint="declare it VIRTUAL; writable are " + ", ".join(writable),
            )
        held = table.connector.metadata_type(column.key)
        hint = f"declare it {held.with_nullable(True)}, or VIRTUAL where it is only read"
        cast = _cast(column, column.type, held, "there is no cast for writing it", hint)
        casts[column.name] = cast.sql
    return casts


def _cast(
    column: MetadataColumn, source: DataType, target: DataType, reason: str, hint: str
) -> Bound:
    try:
        return explicit_cast(bound_field(Field(column.name, source)), target)
    except StreamtableError as error:
        if error.condition is not Condition.CAST_UNSUPPORTED:
            raise error.located(column.at) from None
        held = target if source is column.type else source
        raise StreamtableError(
            Condition.METADATA_TYPE,
            at=column.at,
            column=column.name,
            found=column.type,
            key=column.key,
            expected=held.with_nullable(True),
            reason=reason,
            hint=hint,
        ) from None
