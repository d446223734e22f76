"""streamtable: Flink SQL's `kafka` and `upsert-kafka` tables on Apache Spark.

Open a session, and run statements:

    import streamtable

    session = streamtable.connect()
    session.execute_sql("CREATE TABLE orders (...) WITH ('connector' = 'kafka', ...)")
    session.sql_query("SELECT * FROM orders").to_dataframe()    # the rows of now, in Spark
    session.execute_sql("SELECT * FROM orders").print()         # the changes, until Ctrl-C
    job = session.execute_sql("INSERT INTO totals SELECT ...")  # runs in the background
    job.status(), job.metrics()
    job.stop()

- `connect` opens a `Session`: `execute_sql`, `sql_query`, `table`, `from_dataframe`,
  `create_statement_set`, `register_function`, `explain_sql`, `jobs`, `close`.
- `execute_sql` returns a `Result`: a `Job` with `wait`, `stop`, `status` and `metrics`, or rows
  with `print`, `collect`, `to_pandas` and `to_arrow`. Each `Row` has a `RowKind`.
- `sql_query` returns a `Table`: `to_dataframe`, `to_changelog`, `to_pandas`, `to_arrow`,
  `execute`, `execute_insert`.
- `StreamtableError` is the base of all errors: `condition`, `at`, `hint`. `Faults` holds several.
- `streamtable.udf.udf` gives the types of a Python function that SQL calls.
- `%load_ext streamtable` adds cells of Flink SQL to a notebook: `%%flinksql`.
- `streamtable.table` has PyFlink's names: scripts for `pyflink.table` run with the import changed.

`streamtable sql` is the same session in a terminal. docs/use/python-api.md tells more. Importing
this package imports neither Spark nor Java.
"""

import importlib

__version__ = "0.1.0.dev0"

#: Public name -> module that defines it; modules are imported when a name is first used.
_HOMES = {
    "Faults": "streamtable.core.errors",
    "Job": "streamtable.api.job",
    "Result": "streamtable.api.result",
    "Row": "streamtable.api.row",
    "RowKind": "streamtable.core.changelog",
    "Session": "streamtable.api.session",
    "StatementSet": "streamtable.api.statement_set",
    "StreamtableError": "streamtable.core.errors",
    "Table": "streamtable.api.table",
    "connect": "streamtable.api.connect",
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - all are strings


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        message = f"module 'streamtable' has no attribute '{name}'"
        raise AttributeError(message)
    found: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def load_ipython_extension(shell: object) -> None:
    """Add `%%flinksql` to a notebook; IPython calls this for `%load_ext streamtable`."""
    importlib.import_module("streamtable.notebook.extension").load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
