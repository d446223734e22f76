"""How one expression becomes Spark SQL with Flink's type and Flink's result.

`expressions.Binder` walks the tree; the modules here are what it asks at each node. The texts
assume the Spark settings of `session` and, for instants, the time zone of `table.local-time-zone`.
Where Flink fails and Spark would give NULL, the text fails by `raise_error`.
"""
