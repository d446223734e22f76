"""Whether the sink of a query can be compared with its batch answer."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.batch.refusals import refusal, refused
from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.connector import Readable
from streamtable.connector_api.endpoints import source_of
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.table import NOT_NULL_ENFORCER, NotNullEnforcer
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans


def check_provable(sink: Sink, functions: Sequence[UserFunction]) -> None:
    """Check, without reading anything, that a query and its tables can be compared.

    Args:
        sink: the query.
        functions: the user's Python functions, which the query may call.

    Raises:
        StreamtableError: NO_BATCH_ANSWER for an operator, NO_HISTORY for a table that cannot be
            read again, NOT_PROVABLE for others.
    """
    found = refusal(sink.input)
    if found is not None:
        raise refused(sink, found)
    texts = " ".join(text for node in every(sink.input) for text in node.spark_texts)
    for function in functions:
        if function.spark_name in texts and not function.deterministic:
            raise _not(sink, f"function {function.name} is not deterministic")
    for scan in scans(sink.input):
        _check_history(
            scan.table.name, scan.table.connector.name, source_of(scan.table).keeps_history
        )
        if source_of(scan.table).is_bounded:
            raise _not(sink, f"{scan.table.name} has a bound, which each run decides again")
    connector = sink.table.connector
    keeps = isinstance(connector, Readable) and connector.source().keeps_history
    _check_history(sink.table.name, connector.name, keeps)
    drops = sink.settings[NOT_NULL_ENFORCER] is NotNullEnforcer.DROP and sink.required
    if drops and not sink.input.mode.is_append:
        reason = f"'{NOT_NULL_ENFORCER.key}' drops rows, so that an earlier row of a key stays"
        raise _not(sink, reason)


def _check_history(table: str, connector: str, keeps: bool) -> None:
    if not keeps:
        raise StreamtableError(
            Condition.NO_HISTORY,
            table=table,
            connector=connector,
            hint="name another table with --table",
        )


def _not(sink: Sink, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.NOT_PROVABLE, at=sink.at, table=sink.table.name, reason=reason
    )
