"""Query planning: WITH, FROM, the SELECT block, subqueries and set operations."""
