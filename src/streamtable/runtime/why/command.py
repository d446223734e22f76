"""The command as a whole: the checks, Spark, and the rows of the key or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.preflight import Notice
from streamtable.core.options import Settings
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.operators.context import LoweringContext
from streamtable.plan.rules.tree import every
from streamtable.plan.source.scan import scans
from streamtable.plan.window.watermark import WatermarkAssigner
from streamtable.runtime.metrics.omitted_records import OMITTED
from streamtable.runtime.reading import ReadOpening
from streamtable.runtime.why.asked import AskedQuery, Question
from streamtable.runtime.why.key import described
from streamtable.runtime.why.records import StoredRecords, as_json
from streamtable.runtime.why.result import FoundRow, QueryAnswer, WhyAnswer
from streamtable.runtime.why.rows import KeyRows, parts
from streamtable.runtime.why.trace import pinned_scans, pins_of
from streamtable.runtime.why.walk import Walk

_LATE = "a job may have dropped late rows, which this answer contains"
_WAITS = "a job emits rows when the watermark has passed them; this answer contains all rows"
_ARRIVAL = "the sink has the row that arrived last"


def run_why(
    asked: Question,
    checkpoint: str | None,
    settings: Settings,
    master: str | None,
    functions: Sequence[UserFunction],
    notice: Notice,
    *,
    verbose: bool = False,
) -> WhyAnswer:
    """Find the records of a row, or the operator that drops its key.

    Args:
        asked: the table and the key.
        checkpoint: the directory of a job, whose newest commits end the input; None for now.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's functions.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.

    Raises:
        StreamtableError: any error of the read.
    """
    with ExitStack() as stack:
        opening = ReadOpening(stack, settings, master, functions, notice, verbose=verbose)
        if checkpoint is not None:
            asked = asked.at_commit(checkpoint, opening.checkpoint(checkpoint))
        context = opening.context
        asked.check_topics(context)
        queries = tuple(_of_query(query, asked, context, notice) for query in asked.queries)
        for table, counters in context.counters.items():
            for name, number in counters.values().items():
                if number and name in OMITTED:
                    # Several operators may read a record, so their number has no meaning.
                    notice(f"{table}: some records {OMITTED[name]}")
    name = asked.queries[0].sink.table.name
    return WhyAnswer(name, asked.key_text, described(asked.key), queries)


def _of_query(
    query: AskedQuery, asked: Question, context: LoweringContext, notice: Notice
) -> QueryAnswer:
    tables = scans(query.sink.input)
    explains = [source_of(scan.table).explain for scan in tables]
    stored = StoredRecords(tables, query.ranges(context.bridge), context, notice)
    try:
        return _answer(query, asked, KeyRows(stored, context, asked.limit, query.watermark_ms))
    except (PySparkException, JavaError) as error:
        raise job_fault(query.sink.table.name, str(error), explains) from error
    finally:
        stored.close()


def _answer(query: AskedQuery, asked: Question, rows: KeyRows) -> QueryAnswer:
    sink, pins = query.sink, pins_of(asked.key)
    for scan, reached in pinned_scans(sink.input, pins):
        rows.stored.narrow(scan, reached)
    found = _found(query, asked, rows)
    notes = []
    if any(isinstance(node, WatermarkAssigner) for node in every(sink.input)):
        notes.append(_LATE)
    if query.commit is None and any(node.waits for node in every(sink.input)):
        notes.append(_WAITS)
    place = str(sink.at) if sink.at else ""
    batch = query.commit.batch if query.commit else None
    if found:
        if len(found) > 1:
            notes.append(f"{len(found)} rows have this key; {_ARRIVAL}")
        notes += [
            f"{doubt.node.described}: {doubt.reason}"
            for doubt in rows.doubts
            if doubt.cases is None or not doubt.cases.isEmpty()
        ]
        return QueryAnswer(place, batch, found, (), tuple(notes))
    walk = Walk(rows)
    walk.visit(sink.input, pins)
    return QueryAnswer(place, batch, (), tuple(walk.lines), tuple(notes))


def _found(query: AskedQuery, asked: Question, rows: KeyRows) -> tuple[FoundRow, ...]:
    """Return the rows of the key with their records."""
    sink, bridge = query.sink, rows.lowering.bridge
    fields = sink.input.fields
    values = [field for field in fields if field.name not in sink.key]
    carried = rows.carried.column
    record = f"named_struct({', '.join(_named(text) for text in parts('x'))})"
    frame = rows.of(sink.input, pins_of(asked.key), with_records=True).select(
        as_json(fields, bridge).alias("whole"),
        (as_json(values, bridge) if values else F.lit("{}")).alias("rest"),
        F.expr(f"transform({carried}, x -> {record})").alias("records"),
    )
    found = []
    for row in frame.limit(asked.limit).collect():
        records = rows.records(row["records"])
        more = len(records) > asked.limit
        found.append(FoundRow(row["whole"], row["rest"], records[: asked.limit], more))
    return tuple(found)


def _named(text: str) -> str:
    value, _, name = text.rpartition(" AS ")
    return f"'{name}', {value}"
