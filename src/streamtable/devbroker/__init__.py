"""A real single-node Kafka for trials and tests: `broker` runs one, `dev` keeps one running.

A leaf: uses the jars of `jvm`, knows nothing of SQL or Spark. For development only: one node, no
authentication, loopback addresses.
"""
