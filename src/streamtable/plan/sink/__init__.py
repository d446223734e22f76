"""Sinks of rows: INSERT, a displayed SELECT, and the operators before a sink."""
