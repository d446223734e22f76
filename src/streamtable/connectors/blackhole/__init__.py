"""The `blackhole` connector: accepts and discards every row, for measurements."""
