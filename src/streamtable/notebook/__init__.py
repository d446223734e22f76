"""The IPython extension: `%load_ext streamtable`, then cells of Flink SQL with live results.

In: cells of a notebook. Out: tables and plots that change while a query runs, and jobs in the
background. It stands on the Python API and needs the extra `notebook`.
"""
