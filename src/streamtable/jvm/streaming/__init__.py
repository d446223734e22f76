"""Spark's streaming queries and their checkpoints, as the driver sees them."""
