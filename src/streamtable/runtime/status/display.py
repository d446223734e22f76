"""Jobs as text: the list of `streamtable jobs`, and the report of `streamtable status`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from streamtable.core.secrets import without_secrets
from streamtable.runtime.status.document import StatusDocument
from streamtable.runtime.status.found import FoundJob
from streamtable.runtime.status.views import (
    OperatorView,
    holds_back,
    iso,
    lag_of,
    operators_of,
    slowest,
)

_HEADINGS = ("name", "state", "pid", "lag", "mode", "watermark", "last checkpoint", "directory")
_UNITS = ("B", "kB", "MB", "GB", "TB")
_KILO = 1_000


def job_table(jobs: Iterable[FoundJob]) -> list[str]:
    """Return a table of jobs, with the error or the note of a job below its line."""
    found = list(jobs)
    lines = table(_HEADINGS, [_row(job) for job in found])
    texts = lines[:1]
    for job, line in zip(found, lines[1:], strict=True):
        texts.append(line)
        texts += [f"    {what}" for what in (_failure(job), job.note) if what is not None]
    return texts


def job_report(job: FoundJob) -> Iterator[str]:
    """Yield the lines of the report of one job."""
    yield f"job {job.name}: {job.state.value}"
    if job.note is not None:
        yield f"  note             {job.note}"
    yield f"  checkpoint       {job.checkpoint}"
    document = job.document
    if document is None:
        return
    if job.state.lives:
        yield f"  process          {document.process.pid} on {document.host}"
    yield f"  started          {_time(document.started)}"
    if document.ended is not None:
        yield f"  ended            {_time(document.ended)}"
    else:
        yield f"  reported         {_time(document.updated)}"
    failure = _failure(job)
    if failure is not None:
        yield f"  {failure}"
    elif document.last_error is not None:
        yield f"  last error       {_time(document.last_error.at)}: {document.last_error.message}"
    if document.reader is not None:
        yield from _reader(document.reader)
    for name in document.queries or document.metrics["queries"]:
        yield ""
        yield from _query(document, name)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of left-aligned columns, the headings in capitals."""
    lines = [[heading.upper() for heading in headings], *rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(size) for cell, size in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _row(job: FoundJob) -> tuple[str, ...]:
    document = job.document
    pid = "" if job.holder is None else str(job.holder)
    if document is None:
        return (job.name, job.state.value, pid, "", "", "", "", job.checkpoint)
    queries, tables = document.metrics["queries"].values(), document.metrics["tables"]
    modes = sorted({query["mode"] for query in queries if query["mode"] is not None})
    marks = [query["watermark"] for query in queries if query["watermark"] is not None]
    checkpoints = [query["lastCheckpoint"] for query in queries]
    read = {name for query in document.queries.values() for name in query["reads"]}
    return (
        job.name,
        job.state.value,
        pid,
        _lag(document, lag_of(tables, read)) if tables or document.reader else "",
        " and ".join(modes),
        min(marks, default=""),
        _time(min(checkpoints)) if checkpoints else "",
        "(temporary)" if document.temporary and not job.state.lives else job.checkpoint,
    )


def _lag(document: StatusDocument, records: int | None) -> str:
    if document.reader is not None:
        return f"{document.reader['behind']:,} bytes"
    return "unknown" if records is None else f"{records:,}"


def _failure(job: FoundJob) -> str | None:
    return None if job.error is None else f"error: {without_secrets(job.error)}"


def _reader(reader: Mapping[str, Any]) -> Iterator[str]:
    pending = [".".join(name) for name in reader["pending"]]
    if pending:
        yield f"  snapshot         {reader['chunks']:,} chunks; not complete: {', '.join(pending)}"
    elif reader["position"]:
        yield f"  binlog           at {reader['position']}, {reader['behind']:,} bytes behind"
    if reader["lag"] >= 0:
        yield f"  lag              at most {reader['lag']:.1f} s"


def _query(document: StatusDocument, name: str) -> Iterator[str]:
    outline = document.queries.get(name, {"reads": [], "writes": name, "operators": []})
    tables = document.metrics["tables"]
    query = document.metrics["queries"].get(name)
    mode = "no batch yet" if query is None else query["mode"]
    lag = lag_of(tables, outline["reads"])
    shown = ", lag unknown" if lag is None else f", lag {lag:,} records"
    yield f"query {name}: {mode}{shown if outline['reads'] else ''}"
    for each in outline["reads"]:
        yield f"  reads {each}: {_flow(tables.get(each, {}), 'In')}"
    yield f"  writes {outline['writes']}: {_flow(tables.get(outline['writes'], {}), 'Out')}"
    if query is None:
        return
    seconds = (query.get("batchDuration") or 0) / _KILO
    took = f", which took {seconds:,.1f} s" if query.get("batchDuration") is not None else ""
    last = _time(query["lastCheckpoint"])
    yield f"  last checkpoint  batch {query['lastBatch']} at {last}{took}"
    yield from _proof(query)
    yield from _watermarks(query)
    yield from _state(query, operators_of(query, outline["operators"]))


def _flow(found: Mapping[str, Any], way: str) -> str:
    if f"numRecords{way}" not in found:
        return "not known yet"
    rate, size = found[f"numRecords{way}PerSecond"], found[f"numBytes{way}PerSecond"]
    text = f"{found[f'numRecords{way}']:,} records, {rate:,.1f}/s, {_bytes(size)}/s"
    lag = found.get("pendingRecords") if way == "In" else None
    text += "" if lag is None else f", lag {lag:,}"
    return text + (f", {found['numErrors']:,} errors" if found.get("numErrors") else "")


def _proof(query: Mapping[str, Any]) -> Iterator[str]:
    if "proofFailures" not in query:
        return
    failures = f"{query['proofFailures']:,} failed" if query["proofFailures"] else ""
    if "proofAge" not in query:
        yield f"  last proof       none, {failures}"
        return
    parts = [f"{query['proofDifferences']:,} differ"]
    if query["proofUndecided"]:
        parts.append(f"{query['proofUndecided']:,} undecided")
    parts.append(f"{query['proofAge'] / _KILO:,.0f} s old")
    yield f"  last proof       {', '.join([*parts, *filter(None, [failures])])}"


def _watermarks(query: Mapping[str, Any]) -> Iterator[str]:
    marks: Mapping[str, int] = query["partitionWatermark"]
    if query["watermark"] is None and not marks:
        return
    back = holds_back(query)
    held = "" if back is None else f", held back by {back}"
    yield f"  watermark        {query['watermark'] or 'none yet'}{held}"
    if not marks:
        return
    highest = max(marks.values())
    rows = [
        (name, iso(mark), f"{(highest - mark) / _KILO:,.1f} s")
        for name, mark in sorted(marks.items(), key=lambda pair: (pair[1], pair[0]))
    ]
    yield from (f"    {line}" for line in table(("partition", "watermark", "behind"), rows))


def _state(query: Mapping[str, Any], operators: Sequence[OperatorView]) -> Iterator[str]:
    if not operators:
        return
    counted = "" if query["stateRows"] is None else f"{query['stateRows']:,} rows, "
    yield f"  state            {counted}{_bytes(query['stateBytes'])}"
    rows = [
        (
            each.name,
            "" if each.rows is None else f"{each.rows:,}",
            _bytes(each.bytes),
            "" if each.milliseconds is None else f"{each.milliseconds:,} ms",
        )
        for each in operators
    ]
    yield from (f"    {line}" for line in table(("operator", "rows", "bytes", "time"), rows))
    found = slowest(operators)
    if found is not None:
        yield f"  slowest operator {found.name}: {found.milliseconds:,} ms in the last batch"


def _bytes(size: float) -> str:
    unit = 0
    while size >= _KILO and unit < len(_UNITS) - 1:
        size /= _KILO
        unit += 1
    return f"{size:,.0f} B" if unit == 0 else f"{size:,.1f} {_UNITS[unit]}"


def _time(seconds: float) -> str:
    local = datetime.fromtimestamp(seconds).astimezone()
    ago = time.time() - seconds
    recent = f" ({ago:,.0f} s ago)" if 0 <= ago < _KILO else ""
    return f"{local:%Y-%m-%d %H:%M:%S}{recent}"
