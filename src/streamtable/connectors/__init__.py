"""Stage 5, the connectors: they check table options, and read and write external systems.

Declarations (`options`, `table`, `table_options`) work without Spark and serve the planner.
`source` and `sink` build DataFrames and writers for `operators`. Connectors never see plan nodes.
"""
