"""Catalogs of type `schema-registry`: topics with registered schemas as tables."""
