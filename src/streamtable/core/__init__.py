"""Stage 0, types that all other stages share: errors, options, types, changelog, tables.

Nothing in here imports another package of streamtable, pyspark or a Kafka client.
"""
