"""Read a table at moments: checks of the source, the stored changes, and their fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from pyspark.sql import DataFrame

from streamtable.batch.fold import HISTORY, ORDER, content, difference, history
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.preflight import Notice, Preflight
from streamtable.connector_api.reading import ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS, Source
from streamtable.connector_api.stored import StoredChanges
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.moment import Moment
from streamtable.core.table import Table
from streamtable.core.types import BIGINT, INT, STRING, Field, quote, timestamp_ltz
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.calc import lower_calc
from streamtable.plan.query.relation import unique_names
from streamtable.plan.sink.plan_read import TableRead


class View(Enum):
    """What a read shows of a table."""

    CONTENT = "content"
    CHANGES = "changes"
    DIFFERENCE = "difference"


@dataclass(frozen=True)
class Stored:
    """Result of a read.

    Attributes:
        frame: a lazy batch DataFrame with one column per field, in order.
        fields: names and types of the columns.
        texts: Spark SQL of each column as text, as Flink prints it.
    """

    frame: DataFrame
    fields: tuple[Field, ...]
    texts: tuple[str, ...]


def read_stored(
    plan: TableRead, view: View, moments: Sequence[Moment], context: LoweringContext, notice: Notice
) -> Stored:
    """Read a table at one moment, or the difference between two.

    Args:
        plan: the read.
        view: what to show: the rows at a moment; all changes up to it; the difference of two.
        moments: one moment, or two for a difference.
        context: the context of the read, without a job.
        notice: takes one line for the user about records that are no longer kept.

    Raises:
        StreamtableError: NO_HISTORY for a connector without one; MOMENT_LOST; an error of the
            external system.
    """
    source = examined(plan.scan.table, context, notice)
    reads, schema = plan.scan.mode, plan.scan.table.schema
    key = () if reads.is_append else schema.primary_key
    if not (key or reads.is_append):
        _check_countable(plan)
    # The last change of each row of a record is enough for a fold by key.
    last_only = bool(key) and view is not View.CHANGES
    wanted = ReadRequest(plan.scan.fields, last_only=last_only)
    found = source.stored(wanted, moments, context)
    for line in found.notices:
        notice(line)
    return _View(plan, key, context).of(view, found)


def examined(table: Table, context: LoweringContext, notice: Notice) -> Source:
    """Return the source of a table after checks of its server and its access.

    Raises:
        StreamtableError: NO_HISTORY for a connector without one; an error of the external system.
    """
    source = source_of(table)
    if not source.keeps_history:
        raise StreamtableError(
            Condition.NO_HISTORY,
            at=source.at,
            table=source.table,
            connector=table.connector.name,
            hint="read it with SELECT * in `streamtable sql`",
        )
    source.examine(
        Preflight(
            context.bridge, context.settings, notice, bounded=True, first_run=False, read_only=True
        )
    )
    return source


def _check_countable(plan: TableRead) -> None:
    """Refuse metadata columns without a key: the two rows of an update have different metadata."""
    metadata = {column.name for column in plan.scan.table.schema.metadata}
    read = [field.name for field in plan.scan.fields if field.name in metadata]
    if read:
        raise StreamtableError(
            Condition.PRIMARY_KEY_REQUIRED,
            at=plan.scan.table.at,
            table=plan.scan.table.name,
            owner=f"a read with metadata column '{read[0]}'",
            hint="add PRIMARY KEY (column, ...) NOT ENFORCED to its columns",
        )


@dataclass(frozen=True)
class _View:
    plan: TableRead
    key: Sequence[str]
    context: LoweringContext

    def of(self, view: View, found: StoredChanges) -> Stored:
        match view:
            case View.CONTENT:
                return self._content(found)
            case View.CHANGES:
                return self._changes(found)
            case View.DIFFERENCE:
                return self._difference(found)

    def _content(self, found: StoredChanges) -> Stored:
        if self.plan.scan.mode.is_append:
            rows = self._project(found.rows, ORDER).orderBy(*ORDER)
        else:
            folded = content(found.rows, found.fields, self.key)
            keys = [f"__key_{place}" for place in range(len(self.key))]
            named = [f"{quote(k)} AS {n}" for k, n in zip(self.key, keys, strict=True)]
            rows = self._project(folded.selectExpr("*", *named), keys)
            rows = rows.orderBy(*keys) if keys else rows
        plan = self.plan
        return Stored(rows.selectExpr(*map(_named, plan.columns)), plan.columns, plan.texts)

    def _changes(self, found: StoredChanges) -> Stored:
        mode = self.plan.scan.mode
        upserts = not mode.is_append and not mode.has_before
        rows = history(found.rows, found.fields, self.key, upserts=upserts)
        shown = self._project(rows, HISTORY).orderBy(*ORDER)
        own = (
            Field("op", STRING),
            Field("partition", INT),
            Field("offset", BIGINT),
            Field("time", timestamp_ltz(3)),
        )
        return self._with(shown, own, ("__kind", *ORDER_COLUMNS, HISTORY[-1]))

    def _difference(self, found: StoredChanges) -> Stored:
        columns, volatile = self.plan.columns, self.plan.volatile
        fields = found.fields
        rows = difference(found.rows, fields, self.key, self._project, columns, volatile)
        return self._with(rows, (Field("op", STRING),), ("__kind",))

    def _with(self, rows: DataFrame, own: Sequence[Field], sources: Sequence[str]) -> Stored:
        """Return the columns of the table between `op` and the other columns of a change."""
        kinds = "array('+I', '-U', '+U', '-D')"
        rows = rows.selectExpr("*", f"{kinds}[{ROW_KIND_COLUMN}] AS __kind")
        columns = self.plan.columns
        # A column of the table keeps its name.
        names = unique_names([*(f.name for f in columns), *(f.name for f in own)])[len(columns) :]
        op, *others = (
            (Field(name, f.type), source)
            for name, f, source in zip(names, own, sources, strict=True)
        )
        pairs = [op, *((f, quote(f.name)) for f in columns), *others]
        frame = rows.selectExpr(*(f"{source} AS {quote(f.name)}" for f, source in pairs))
        texts = [
            quote(op[0].name),
            *self.plan.texts,
            *(f"CAST({quote(f.name)} AS STRING)" for f, _ in others),
        ]
        return Stored(frame, tuple(f for f, _ in pairs), tuple(texts))

    def _project(self, rows: DataFrame, kept: Sequence[str]) -> DataFrame:
        for calc in self.plan.calcs:
            rows = lower_calc(calc, rows, self.context, kept)
        if not self.plan.calcs:
            names = (quote(field.name) for field in self.plan.columns)
            return rows.selectExpr(ROW_KIND_COLUMN, *names, *kept)
        return rows


def _named(field: Field) -> str:
    return quote(field.name)
