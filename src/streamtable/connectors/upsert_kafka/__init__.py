"""The `upsert-kafka` connector: the kafka table keyed by its primary key, deletes as tombstones."""
