"""Checks of a job's sources and sinks before the queries start."""
