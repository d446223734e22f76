"""Formats: bytes <-> columns, declared as data. Comes from a table's options, goes to a Java codec.

A format here is a declaration (identifier, options, row kinds) that turns fields and settings into
a `Codec`, a plain value naming the Java class that does the work per record. No pyspark in here.
"""
