"""MATCH_RECOGNIZE: the operators, and their planning from SQL."""
