"""Sources of rows: tables and VALUES, with their operators."""
