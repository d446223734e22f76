"""The formats of change data capture: Debezium's (JSON, Avro), Canal's and Maxwell's."""
