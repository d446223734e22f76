"""Stage 2, statements -> tables: turn DDL into tables with checked options.

The planner reads these tables. Connectors are passed to the catalog as an argument, so no module
here depends on Kafka.
"""
