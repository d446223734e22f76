"""Lowering of aggregations."""
