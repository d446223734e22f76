"""The Avro formats: `avro` and `avro-confluent`."""
