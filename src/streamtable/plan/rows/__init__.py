"""Stateless operators: projection, filter, union, expansion."""
