"""EXPLAIN, plan advice, SHOW and DESCRIBE."""
