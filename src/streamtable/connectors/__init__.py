"""Stage 5, the ends of the pipe: what a table's options mean, how its topic is read and written.

Declarations (`options`, `table`, `table_options`) need no Spark and serve the planner; `source` and
`sink` build DataFrames and writers for `operators`. Connectors never see plan nodes.
"""
