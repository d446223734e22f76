"""Binding of expressions: Spark SQL with Flink's types and Flink's results.

`expressions.Binder` walks the tree and calls the other modules for each node. The Spark SQL assumes
the Spark settings of `session` and, for instants, the time zone of `table.local-time-zone`. If
Flink fails and Spark would return NULL, the Spark SQL fails with `raise_error`.
"""
