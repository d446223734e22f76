"""Lowering of plans to Spark DataFrames: one file per operator; `lower` walks the plan.

Every DataFrame in this package is a changelog: its first column is the row kind, followed by the
fields of the node. The operators use Spark SQL, or our Java classes through `jvm`.
"""
