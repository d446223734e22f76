"""Stage 3, query -> plan: sqlglot trees and catalog tables come in, changelog nodes go out.

`expressions` gives names, operators and calls their types and Spark SQL texts, by the function
table in `functions`; the nodes of `nodes` are built over that and handed to `operators`. No
pyspark in here: a plan is text and types.
"""
