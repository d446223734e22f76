"""Run a job: its data source, its sink, its checkpoint and its progress."""
