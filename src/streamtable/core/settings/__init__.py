"""Settings of `SET` and `--set`, declared as data, and those of a session.

Names and meanings are Flink's if Flink has the setting. Keys that begin with `spark.` are passed to
Spark without parsing.
"""
