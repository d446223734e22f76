"""Lowering of joins: regular joins, lookup joins, and joins by event time."""
