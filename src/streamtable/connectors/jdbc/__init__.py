"""The `jdbc` connector: tables of PostgreSQL, MySQL, MariaDB and SQLite.

A table can be scanned once, looked up by key, and written.
"""
