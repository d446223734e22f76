r"""Read MySQL and MariaDB: snapshots in chunks, then the binlog; without Flink SQL and Spark.

    spec = SourceSpec(MySqlSettings("localhost", "cdc", password), (r"shop\.orders.*",))
    check(spec)                                   # the server's settings and grants
    with Planner(spec) as planner:                # in the driver
        start = planner.initial()                 # -> Offset, to_json()/from_json() for checkpoints
        while True:
            end = planner.next(start)             # equal to start if there is nothing to read
            for part in parts(start, end):        # pure; each part is a task of its own
                for change in read(spec, part):   # -> Change or SchemaChange, in a worker
                    ...
            start = end

`offsets` defines the rows of a batch, and why reading a batch again gives the same rows.
"""

from streamtable.connectors.mysql_cdc.names import StartupMode, server_ids
from streamtable.connectors.mysql_cdc.reader.check import check
from streamtable.connectors.mysql_cdc.reader.discover import discover
from streamtable.connectors.mysql_cdc.reader.model import (
    Change,
    ChangeKind,
    Column,
    MySqlType,
    Position,
    Row,
    SchemaChange,
    TableId,
    TableSchema,
)
from streamtable.connectors.mysql_cdc.reader.offsets import (
    BinlogPart,
    ChunkPart,
    Offset,
    Part,
    ReadPart,
    parts,
)
from streamtable.connectors.mysql_cdc.reader.planner import Planner
from streamtable.connectors.mysql_cdc.reader.reading import read
from streamtable.connectors.mysql_cdc.reader.settings import MySqlSettings
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec, Startup, Tables
from streamtable.connectors.mysql_cdc.reader.values.types import obstacle, sql_type

__all__ = [
    "BinlogPart",
    "Change",
    "ChangeKind",
    "ChunkPart",
    "Column",
    "MySqlSettings",
    "MySqlType",
    "Offset",
    "Part",
    "Planner",
    "Position",
    "ReadPart",
    "Row",
    "SchemaChange",
    "SourceSpec",
    "Startup",
    "StartupMode",
    "TableId",
    "TableSchema",
    "Tables",
    "check",
    "discover",
    "obstacle",
    "parts",
    "read",
    "server_ids",
    "sql_type",
]
