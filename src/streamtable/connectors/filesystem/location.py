"""Location of a table's files: whether its file system can be used, and whether it exists."""

from __future__ import annotations

from streamtable.connectors.filesystem.table import FilesystemTable
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError


def exists(table: FilesystemTable, name: str, at: Span | None, bridge: Bridge) -> bool:
    """Return whether there is anything at the path of a table.

    Args:
        table: the declared table.
        name: its name, for messages.
        at: its place in the script.
        bridge: the bridge to Spark, whose Hadoop settings apply.

    Raises:
        StreamtableError: PATH_UNUSABLE for a scheme without a file system, or if the file system
            refuses the request.
    """
    configuration = bridge.java_session.sessionState().newHadoopConf()
    try:
        return bool(bridge.java.files.FileListing(configuration, table.path, None).exists())
    except JavaError as error:
        raise StreamtableError(
            Condition.PATH_UNUSABLE,
            at=at,
            hint="check 'path' and the login; the jar of its file system must be in 'spark.jars'",
            path=table.path,
            table=name,
            reason=str(error.java_exception.getMessage()),
        ) from error
