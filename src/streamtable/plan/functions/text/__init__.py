"""String functions."""
