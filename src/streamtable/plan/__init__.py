"""Stage 3, query -> plan: turn sqlglot trees and catalog tables into trees of changelog nodes.

- `query` plans a query.
- `aggregate`, `join`, `over`, `window`, `rank`, `source`, `rows` and `sink` contain the operators,
  and the modules `plan_*` that create them from SQL.
- `binding` resolves names, operators and calls to types and Spark SQL, using the function table in
  `functions`.
- `rules` transforms the whole tree.
- `explain` prints the tree.

A plan consists of text and types. No module here imports pyspark.
"""
