"""The command as a whole: the checks, Spark, and the rows of the key or why there are none."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.refusals import refusal, refused
from streamtable.catalog.functions import PythonFunction
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.moment import Moment
from streamtable.core.options import Settings
from streamtable.core.session_settings import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.operators.context import LoweringContext
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.plan.window.watermark import WatermarkAssigner
from streamtable.runtime.metrics.omitted_records import OMITTED
from streamtable.runtime.session.python_functions import register
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.why.key import KeyColumn, described, parse_key
from streamtable.runtime.why.records import StoredRecords, as_json
from streamtable.runtime.why.result import FoundRow, QueryAnswer, WhyAnswer
from streamtable.runtime.why.rows import KeyRows, parts
from streamtable.runtime.why.trace import pinned_scans, pins_of
from streamtable.runtime.why.walk import Walk

_LATE = (
    "a job drops rows that come after the watermark, and emits a window when the watermark has"
    " passed it; this answer contains all rows"
)
_ARRIVAL = "the sink has the row that arrived last"


@dataclass(frozen=True)
class Question:
    """What to explain.

    Attributes:
        sinks: the INSERTs into the table, at least one.
        key_text: the key as JSON.
        key: the key, checked.
        limit: maximum number of records per row or operator.
        moments: the end of the input of each table, by name; other tables are read up to now.
    """

    sinks: tuple[Sink, ...]
    key_text: str
    key: tuple[KeyColumn, ...]
    limit: int
    moments: Mapping[str, Moment]


def question(
    plans: Sequence[Sink], table: str, key: str, limit: int, moments: Mapping[str, Moment]
) -> Question:
    """Check a table and a key against the plans of a script, before Spark starts.

    Raises:
        StreamtableError: INVALID_OPTION for a table without an INSERT, or another key; NO_HISTORY;
            NO_BATCH_ANSWER for an operator that batch does not compute; PRIMARY_KEY_REQUIRED.
    """
    sinks = tuple(sink for sink in plans if sink.table.name == table)
    if not sinks:
        written = ", ".join(dict.fromkeys(sink.table.name for sink in plans))
        raise StreamtableError(
            Condition.INVALID_OPTION,
            option="--table",
            value=table,
            expected=f"a table that the script writes ({written or 'it has no INSERT'})",
        )
    found = parse_key(key, sinks[0])
    for sink in sinks:
        unanswered = refusal(sink.input)
        if unanswered is not None:
            raise refused(sink, unanswered)
    return Question(sinks, key, found, limit, moments)


def run_why(
    asked: Question,
    settings: Settings,
    master: str | None,
    functions: Sequence[PythonFunction],
    notice: Notice,
    *,
    verbose: bool = False,
) -> WhyAnswer:
    """Find the records of a row, or the operator that drops its key.

    Args:
        asked: the table and the key.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's Python functions.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.

    Raises:
        StreamtableError: any error of the read.
    """
    stop = threading.Event()  # Ctrl-C interrupts a read; there is nothing to finish
    with job_spark(settings, master, None, stop, notice, verbose=verbose) as job:
        job.settle()
        register(functions, python_files(settings), job.session)
        context = LoweringContext(job.session, Bridge(job.session), settings, bounded=True)
        queries = tuple(_of_query(sink, asked, context, notice) for sink in asked.sinks)
        for table, counters in context.counters.items():
            for name, number in counters.values().items():
                if number and name in OMITTED:
                    # Several operators may read a record, so their number has no meaning.
                    notice(f"{table}: some records {OMITTED[name]}")
    name = asked.sinks[0].table.name
    return WhyAnswer(name, asked.key_text, described(asked.key), queries)


def _of_query(sink: Sink, asked: Question, context: LoweringContext, notice: Notice) -> QueryAnswer:
    tables = scans(sink.input)
    explains = [source_of(scan.table).explain for scan in tables]
    stored = StoredRecords(tables, asked.moments, context, notice)
    try:
        return _answer(sink, asked, KeyRows(stored, context, asked.limit))
    except (PySparkException, JavaError) as error:
        raise job_fault(sink.table.name, str(error), explains) from error
    finally:
        stored.close()


def _answer(sink: Sink, asked: Question, rows: KeyRows) -> QueryAnswer:
    pins = pins_of(asked.key)
    for scan, reached in pinned_scans(sink.input, pins):
        rows.stored.narrow(scan, reached)
    found = _found(sink, asked, rows)
    notes = []
    if any(isinstance(node, WatermarkAssigner) for node in every(sink.input)):
        notes.append(_LATE)
    place = str(sink.at) if sink.at else ""
    if found:
        if len(found) > 1:
            notes.append(f"{len(found)} rows have this key; {_ARRIVAL}")
        notes += [
            f"{doubt.node.described}: {doubt.reason}"
            for doubt in rows.doubts
            if doubt.cases is None or not doubt.cases.isEmpty()
        ]
        return QueryAnswer(place, found, (), tuple(notes))
    walk = Walk(rows)
    walk.visit(sink.input, pins)
    return QueryAnswer(place, (), tuple(walk.lines), tuple(notes))


def _found(sink: Sink, asked: Question, rows: KeyRows) -> tuple[FoundRow, ...]:
    """Return the rows of the key with their records."""
    bridge = rows.lowering.bridge
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
