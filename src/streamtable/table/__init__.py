"""PyFlink's names: a script for `pyflink.table` runs with `pyflink` replaced by `streamtable`.

    from streamtable.table import EnvironmentSettings, TableEnvironment
    from streamtable.table.udf import udf

    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.execute_sql("INSERT INTO totals SELECT ...").wait()

The names are thin aliases over `streamtable.Session`. The expressions of the Table API, such as
`table.select(col("a"))`, are not there: write them in `sql_query`.
"""

from streamtable.api.result import Result as TableResult
from streamtable.api.row import Row
from streamtable.api.statement_set import StatementSet
from streamtable.api.table import Table
from streamtable.core.changelog import RowKind
from streamtable.table.environment import EnvironmentSettings, TableConfig, TableEnvironment
from streamtable.table.types import DataTypes
from streamtable.udaf import AggregateFunction, ListView, MapView

__all__ = [
    "AggregateFunction",
    "DataTypes",
    "EnvironmentSettings",
    "ListView",
    "MapView",
    "Row",
    "RowKind",
    "StatementSet",
    "Table",
    "TableConfig",
    "TableEnvironment",
    "TableResult",
]
