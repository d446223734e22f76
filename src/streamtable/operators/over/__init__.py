"""Lowering of OVER aggregations."""
