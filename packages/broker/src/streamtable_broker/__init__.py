"""The jars of a Kafka broker, for `streamtable demo` and `streamtable dev up`; no code."""
