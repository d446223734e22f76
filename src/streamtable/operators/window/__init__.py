"""Lowering of windows and sessions."""
