"""The JVM side: what Spark needs on a machine, the compiled operators, and the bridge.

`install` prepares a machine: `install.jars` resolves Kafka's connector and broker with the Ivy that
PySpark ships, and `install.compile` compiles the Java sources in this folder into the operators'
jar. Both write to one cache folder (`install.cache`), so a second start resolves nothing. They need
a JDK (`install.tools`), and `install.warm` does all of it ahead of time.

All calls of a running JVM go through `bridge`. `specs` defines the input of each Java operator, and
`streaming` observes and controls Spark's streaming queries.
"""
