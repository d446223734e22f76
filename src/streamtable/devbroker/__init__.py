"""Single-node Kafka for development and tests: `broker` runs a node, `dev` keeps one running.

This package uses only the jars of `jvm`, and neither SQL nor Spark. It is for development only: one
node, no authentication, loopback addresses.
"""
