"""Reads of a table at moments of its history: content, changes, and differences.

Input: a `TableRead` and moments. Output: batch DataFrames. Spark folds the changes; no row passes
through this process. Next: the command `read` and the Python API.
"""
