"""The `upsert-kafka` connector: the primary key is the record key, deletes are tombstones."""
