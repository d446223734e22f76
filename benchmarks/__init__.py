"""Figures beside Flink's: scripts that anyone can start, see `make help`."""
