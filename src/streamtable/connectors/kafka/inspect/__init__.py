"""Read Kafka topics without Spark: the current content of a table over Kafka.

This reader uses another client and other codecs than the writers, so its result also verifies the
written bytes. The demo and the test kit use it.
"""
