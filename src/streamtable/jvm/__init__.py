"""The JVM side: Kafka's jars, the compiled operators, and the bridge.

`jars` resolves Kafka's connector and broker with the Ivy that PySpark ships. `compile` compiles the
Java sources in this folder into the operators' jar. Both write to one cache folder (`cache`), so a
second start resolves nothing. The package needs a JDK (`tools`). `warm` does all of it ahead of
time. `specs` defines the input of each Java operator. All calls go through `bridge`.
"""
