"""Stage 2, statements -> tables: DDL comes in, tables with checked options go out to `plan`.

Connectors reach the catalog as an argument, so that nothing here knows Kafka.
"""
