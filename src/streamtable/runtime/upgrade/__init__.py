"""Upgrade of a stopped job to a changed script, on the same checkpoint and the same topics."""
