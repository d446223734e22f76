"""Decoded rows of the records by which a sink topic differs: another engine writes other bytes.

Flink writes `1.0E2` or a blank where this engine writes `100.0` or none, and a schema registry
gives each schema an id. Such records have the same row, and are not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from streamtable.batch.rounding import rounded_fields
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.core.types import APPROXIMATE, Field, quote
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.proof.compare import EXPECTED, FOUND, as_json, key_text, matches
from streamtable.runtime.proof.sides import compared_fields


def other_rows(sink: Sink, context: ReadContext) -> Callable[[DataFrame], DataFrame]:
    """Return a filter that keeps the records whose row differs from that of the record before.

    Columns with sums of FLOAT or DOUBLE are equal up to the tolerance of a proof, because their
    last digits depend on the order of the rows.

    Args:
        sink: the query.
        context: the context of the reads.
    """
    fields = compared_fields(sink)
    rounded = _rounded(sink, fields)
    exact = matches(fields, [f.name for f in fields if f.name not in rounded])
    near = matches(fields, rounded, near=True)
    both = f"({EXPECTED} IS NOT NULL AND {FOUND} IS NOT NULL AND {exact} AND {near})"

    def select(records: DataFrame) -> DataFrame:
        pairs = records.where("value IS NOT NULL AND before IS NOT NULL")
        rows = _with_rows(sink, records, pairs, context)
        return rows.where(f"NOT coalesce({both}, FALSE)").select(*records.columns)

    return select


def examples(
    sink: Sink, records: DataFrame, shown: int, context: ReadContext
) -> Sequence[tuple[str, str | None, str | None]]:
    """Return key, row before and new row of some records, as JSON.

    Args:
        sink: the query.
        records: key, value and before.
        shown: the number of examples.
        context: the context of the reads.
    """
    fields = compared_fields(sink)
    number = "struct(0 AS part, monotonically_increasing_id() AS number)"
    chosen = records.orderBy("key").limit(shown).selectExpr("*", f"{number} AS made")
    chosen = chosen.selectExpr("*", "made AS there").localCheckpoint()
    rows = _with_rows(sink, chosen, chosen, context)
    both = f"coalesce({EXPECTED}, {FOUND}) AS __row"
    rows = rows.selectExpr(both, EXPECTED, FOUND).selectExpr("__row.*", EXPECTED, FOUND)
    texts = rows.selectExpr(
        f"{key_text(fields, sink.key)} AS __key", as_json(FOUND), as_json(EXPECTED)
    )
    return [(key, found, now) for key, found, now in texts.orderBy("__key").collect()]


def _rounded(sink: Sink, fields: Sequence[Field]) -> list[str]:
    """Return the columns with sums of FLOAT or DOUBLE, which are no key."""
    found = rounded_fields(sink.input, lambda _: None)
    return [
        f.name
        for f in fields
        if f.name in found and f.name not in sink.key and f.type.root in APPROXIMATE
    ]


def _with_rows(
    sink: Sink, records: DataFrame, decoded: DataFrame, context: ReadContext
) -> DataFrame:
    """Add the rows of both records to differing records: two structs, NULL without a record.

    Args:
        sink: the query.
        records: key, value, before, and the places of both records: two numbers that identify a
            record, `made` and `there`.
        decoded: those of them that are decoded.
        context: the context of the reads.
    """
    for value, place, name in (("value", "made", EXPECTED), ("before", "there", FOUND)):
        rows = _rows(sink, decoded.where(f"{value} IS NOT NULL"), value, place, name, context)
        records = records.join(rows, place, "left")
    return records


def _rows(
    sink: Sink, records: DataFrame, value: str, place: str, name: str, context: ReadContext
) -> DataFrame:
    """Decode one side: its place, and its row as a struct."""
    fields = compared_fields(sink)
    kind = records.schema[place].dataType
    assert isinstance(kind, StructType), "two numbers"  # noqa: S101
    first, second = kind.names
    # A row keeps partition and offset of its record: they hold the place.
    encoded = records.selectExpr(
        "key",
        f"{value} AS value",
        f"CAST({place}.{first} AS INT) AS partition",
        f"{place}.{second} AS offset",
    )
    rows = source_of(sink.table).decoded(ReadRequest(fields), encoded, context)
    return rows.selectExpr(
        f"CAST(struct({', '.join(ORDER_COLUMNS)}) AS {kind.simpleString()}) AS {place}",
        f"struct({', '.join(quote(f.name) for f in fields)}) AS {name}",
    )
