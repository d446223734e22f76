"""Rewrite rules of a finished plan: one pure function per file."""
