"""Rank operators: ROW_NUMBER, LIMIT and deduplication."""
