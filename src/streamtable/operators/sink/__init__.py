"""Lowering of sinks."""
