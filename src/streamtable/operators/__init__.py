"""Stage 4, plan -> Spark DataFrames: one file per operator, `lower` walks the tree.

Every DataFrame in here is a changelog: its first column is the row kind, the node's fields follow.
What works on rows is Spark SQL or one of our Java classes, reached through `jvm`.
"""
