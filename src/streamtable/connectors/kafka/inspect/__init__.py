"""Read Kafka topics without Spark: the current content of a table, or its newest records.

The reader of the content uses another client and other codecs than the writers, so its result also
verifies the written bytes. The demo and the test kit use it. The reader of the newest records uses
the same codecs, and the Java client with the table's settings. The page of a job uses it.
"""
