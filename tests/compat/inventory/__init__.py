"""What Flink 2.2 has: statements, clauses, functions, connectors, formats, catalogs and options.

Lists of names are recorded from Flink itself (`record.py`); statements and clauses have a case
each, with an example. Whether something works here is never written down: `state.py` finds it out
by running the example through the front end, or by asking the registry.
"""
