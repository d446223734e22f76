"""Schemas of topics in a schema registry: the client, and columns inferred from subjects."""
