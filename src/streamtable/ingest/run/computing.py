"""Evaluate the expressions of transforms in Spark: changes -> records.

Rules of Flink CDC's *Transform* page: the filter decides for the row before and the row after a
change. A row that enters the filter is an upsert, a row that leaves the filter is a tombstone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.core.options import Given
from streamtable.formats.registry import find_format
from streamtable.ingest.records.programs import Program, Programs
from streamtable.ingest.run.rows import NEW_KEY, NEW_VALUE, OLD_KEY, PROGRAM
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.literals import null
from streamtable.plan.transform import BoundColumn, BoundTransform

#: A length behind the end of any text.
_REST = (1 << 31) - 1
_OPTIONS = {"encode.decimal-as-plain-number": Given("true")}


def computed(rows: DataFrame, programs: Programs, bridge: Bridge) -> DataFrame:
    """Return the records of the data source's rows, in their order.

    Args:
        rows: columns of `rows.schema_ddl`.
        programs: the programs that the rows name.
        bridge: the JVM side, whose functions are registered.
    """
    if not programs.all:
        return rows
    evaluation = _Evaluation(programs, bridge)
    # Two steps: Spark evaluates an expression of the first step once for its uses in the second.
    evaluated = rows.select(
        *(F.col(name) for name in ("key", "value", "topic", "headers", PROGRAM)),
        evaluation.accepts(OLD_KEY, lambda p: p.old).alias("is_old"),
        evaluation.accepts(NEW_KEY, lambda p: p.new).alias("is_new"),
        evaluation.key(OLD_KEY, lambda p: p.old).alias(OLD_KEY),
        evaluation.key(NEW_KEY, lambda p: p.new).alias(NEW_KEY),
        evaluation.value().alias(NEW_VALUE),
    )
    record = F.when(F.col(PROGRAM).isNull(), _record("key", F.col("value")))
    goes = F.expr(f"is_old AND NOT (is_new AND {OLD_KEY} = {NEW_KEY})")
    tombstone = F.when(goes, _record(OLD_KEY, null("binary")))
    upsert = F.when(F.col("is_new"), _record(NEW_KEY, F.col(NEW_VALUE)))
    return evaluated.select(F.inline(F.array_compact(F.array(record, tombstone, upsert))))


Side = Callable[[Program], BoundTransform]


class _Evaluation:
    """The expressions of all programs, each for the rows of its own number."""

    def __init__(self, programs: Programs, bridge: Bridge) -> None:
        self._programs = programs.all
        self._bridge = bridge
        self._format = find_format("json", "transform")
        self._settings = self._format.options.read(_OPTIONS, "transform")

    def accepts(self, key: str, side: Side) -> Column:
        """Return whether there is a row that its filter accepts."""
        found = self._by_program(lambda p: F.expr(side(p).condition or "true"))
        return F.col(key).isNotNull() & F.coalesce(found, F.expr("FALSE"))

    def key(self, key: str, side: Side) -> Column:
        """Return the record's key."""
        return self._by_program(lambda p: self._completed(key, [side(p).columns[i] for i in p.key]))

    def value(self) -> Column:
        """Return the record's value for the row after a change."""
        return self._by_program(lambda p: self._completed(NEW_VALUE, p.new.columns))

    def _completed(self, head: str, columns: Sequence[BoundColumn]) -> Column:
        """Append computed columns to the text of an object that ends before them."""
        if not columns:
            return F.col(head)
        fields = tuple(column.field for column in columns)
        row = F.struct(*(F.expr(c.sql).alias(c.field.name) for c in columns))
        encoded = self._bridge.encode(self._format.encoder(fields, self._settings), row)
        return F.concat(F.col(head), F.substring(encoded, 2, _REST))

    def _by_program(self, make: Callable[[Program], Column]) -> Column:
        first, *others = self._programs
        found = F.when(F.col(PROGRAM) == first.number, make(first))
        for program in others:
            found = found.when(F.col(PROGRAM) == program.number, make(program))
        return found


def _record(key: str, value: Column) -> Column:
    names = (F.col(key).alias("key"), value.alias("value"), F.col("topic"), F.col("headers"))
    return F.struct(*names)
