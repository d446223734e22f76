"""`streamtable sql`: Flink SQL in a terminal, over the Python API.

In: keys of a terminal, or the text of a script. Out: results on the terminal, and jobs of an API
session. The shell knows no connector: it asks the registries for names and options.
"""
