"""The JVM's side: jars fetched, operators compiled, one bridge.

`jars` resolves Kafka's connector and broker with the Ivy that PySpark ships, `compile` turns the
Java sources beside this file into the operators' jar, both into one cache folder (`cache`), so
that a second start looks nothing up. Needs a JDK (`tools`); `warm` does all of it ahead of time.
`stateful`, `over` and `event_time` say what each Java operator takes, `kafka_admin` what a cluster
can be asked; all of them call through `bridge`.
"""
