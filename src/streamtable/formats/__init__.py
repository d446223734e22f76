"""Formats: declarations that turn table options into Java codecs between bytes and columns.

A format is a declaration (identifier, options, row kinds). It turns fields and settings into a
`Codec`, a plain value with the name of the Java class that works on each record. This package does
not use pyspark.
"""
