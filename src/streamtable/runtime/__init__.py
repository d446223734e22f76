"""Runtime of jobs: Spark sessions with our operators, queries, checkpoints and metrics."""
