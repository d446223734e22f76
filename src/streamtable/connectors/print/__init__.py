"""The `print` connector: prints rows to standard output, for looking at a query."""
