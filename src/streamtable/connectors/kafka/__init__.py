"""The `kafka` connector: append-only and changelog-format topics. `upsert_kafka` builds on it."""
