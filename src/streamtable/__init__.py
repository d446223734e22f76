"""streamtable: Flink SQL's `kafka` and `upsert-kafka` tables on Apache Spark.

The way of the data, one package per stage: `sql` (script -> statements), `catalog` (statements ->
tables with checked options), `plan` (query -> changelog plan), `operators` (plan -> Spark
DataFrames), `connectors` and `formats` (the two ends), `runtime` (running queries).
`core` holds the words they share; `session` wires them; `cli` is the door.
"""

__version__ = "0.1.0.dev0"
