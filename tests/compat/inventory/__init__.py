"""Features of Flink 2.2: statements, clauses, functions, connectors, formats, catalogs and options.

Lists of names are recorded from Flink itself (`record.py`). Each statement and clause has a case
with an example. Whether a feature works in streamtable is never written down: `state.py` runs the
example through the front end, and `lists.py` asks the registries.
"""
