"""Rewrites of a finished plan, one pure function a file."""
