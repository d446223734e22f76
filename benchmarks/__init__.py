"""Benchmarks against Flink: scripts that anyone can run, see `make help`."""
