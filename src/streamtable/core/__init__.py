"""Stage 0, the words every other stage speaks: errors, options, types, changelog, tables.

Nothing in here imports another package of streamtable, pyspark or a Kafka client.
"""
