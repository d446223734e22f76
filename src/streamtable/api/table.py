"""Table: a query that has not run yet."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from streamtable.api.arrow import arrow_table, pandas_frame
from streamtable.api.family import one_family
from streamtable.api.row import python_row
from streamtable.core.tableau import tableau
from streamtable.core.types import STRING, Field, spark_ddl
from streamtable.plan.query.relation import unique_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamtable.api.job import Job
    from streamtable.api.moments import MomentLike
    from streamtable.api.query import Query
    from streamtable.api.session import Session
    from streamtable.api.text import Text

_CHANGE = "op"
_ROWS_PER_PART = 10_000


class Table:
    """A query over tables of a session. It runs only when its rows are asked for.

    `to_dataframe`, `to_changelog`, `to_pandas` and `to_arrow` read up to the current end of the
    topics. `execute` follows the changes without an end. `str(table)` is a name for the table in
    other queries: `session.sql_query(f"SELECT ... FROM {table}")`.

    Attributes:
        text: its SQL text with its variables.
        fields: names and types of the columns.
    """

    def __init__(self, session: Session, text: Text, planned: Query) -> None:
        self.text = text
        self.fields = planned.fields
        self._session = session
        self._planned = planned
        self._name: str | None = None

    @property
    def query(self) -> str:
        """The SQL text of the query as written."""
        return self.text.text

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [field.name for field in self.fields]

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        """Name and Flink SQL type of each column."""
        return [(field.name, str(field.type)) for field in self.fields]

    def execute(self) -> Query:
        """Return the rows as `execute_sql` of the query returns them: changes, as they arrive."""
        return self._planned

    def execute_insert(self, target: str) -> Job:
        """Start a job that writes the query into a table, and return the job.

        Args:
            target: name of the table, as INSERT INTO takes it.

        Raises:
            StreamtableError: any error of the INSERT.
        """
        statements = self._session.create_statement_set()
        return statements.add_insert(target, self).execute()

    def explain(self) -> str:
        """Return the plan of the query as text."""
        return self._session.explain_sql(self.text.text, self.text.variables)

    def to_dataframe(self, as_of: MomentLike | None = None) -> DataFrame:
        """Return the rows of now, or of an earlier moment, as a batch DataFrame of Spark.

        Without `as_of`, the query reads up to the current end of the topics, and its changes are
        folded into the rows that are left. The rows pass through the memory of this process.

        With `as_of`, Spark folds the stored records of one table up to the moment, when the
        DataFrame is used; no row passes through this process. The query may project and filter.

        DataFrame columns of the same name are numbered: `a`, `a_1`.

        Args:
            as_of: a text as `streamtable read --as-of` takes it (`"10 min ago"`, `"now"`), a
                datetime, epoch milliseconds, or partition -> end offset.

        Raises:
            StreamtableError: any error of the query; MOMENT_LOST if the records are deleted;
                NO_HISTORY for a table whose connector keeps none.
        """
        with one_family():
            if as_of is not None:
                return self._session.read_at(self.text, as_of)
            return self._frame(self._rows(), self.fields)

    def to_changelog(self) -> DataFrame:
        """Return the changes up to now as a batch DataFrame of Spark, in their order of arrival.

        The first column, `op`, is the row kind: `+I`, `-U`, `+U` or `-D`. The rows pass through the
        memory of this process. For changes without an end, loop over `execute().collect()`.

        Raises:
            StreamtableError: any error of the query.
        """
        with one_family():
            changes = self._planned.changes(bounded=True)
            rows = [(kind.short, *python_row(values, self.fields)) for kind, values in changes]
            return self._frame(rows, (Field(_CHANGE, STRING), *self.fields))

    def to_arrow(self) -> Any:
        """Return the rows of now as a `pyarrow.Table`; see `to_dataframe`."""
        with one_family():
            return arrow_table(self._rows(), self.fields, "to_arrow()")

    def to_pandas(self) -> Any:
        """Return the rows of now as a `pandas.DataFrame`; see `to_dataframe`."""
        with one_family():
            return pandas_frame(self._rows(), self.fields, "to_pandas()")

    def print_schema(self) -> None:
        """Print names and types of the columns."""
        print(tableau(["name", "type"], [list(pair) for pair in self.dtypes]))  # noqa: T201

    def __str__(self) -> str:
        """Return the name of a temporary view over the query, which the first call creates."""
        if self._name is None:
            self._name = self._session.name_table(self)
        return self._name

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {kind}" for name, kind in self.dtypes)
        return f"<Table ({columns})>"

    def _rows(self) -> list[Any]:
        rows = self._planned.final_rows(bounded=True)
        return [python_row(values, self.fields) for values in rows]

    def _frame(self, rows: list[Any], fields: tuple[Field, ...]) -> DataFrame:
        names = unique_names(field.name for field in fields)
        typed = tuple(Field(n, field.type) for n, field in zip(names, fields, strict=True))
        spark = self._session.spark
        # By default, the rows would be in as many partitions as Spark has slots.
        parts = min(os.cpu_count() or 1, 1 + len(rows) // _ROWS_PER_PART)
        plain = [_plain(row) for row in rows]
        return spark.createDataFrame(spark.sparkContext.parallelize(plain, parts), spark_ddl(typed))


def _plain(value: Any) -> Any:
    """Return a value with tuples for its rows, because Spark's workers may lack the package."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {_plain(key): _plain(each) for key, each in value.items()}
    return value
