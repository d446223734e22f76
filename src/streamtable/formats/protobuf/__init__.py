"""The Protobuf formats: `protobuf` and `protobuf-confluent`."""
