"""Stage 6, run: a Spark session with what our operators need, queries, checkpoints, the end."""
