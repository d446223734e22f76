"""Date and time functions."""
