"""Lowering of MATCH_RECOGNIZE."""
