"""The `filesystem` connector: rows in files of a directory, read and written by Spark."""
