"""The Python API: a session that runs statements one after the other, and their results.

In: texts of a program or of the shell. Out: jobs that run in the background, and rows. Each call
works on a copy of the catalog and the settings, which replaces them if the call succeeds.
Importing it imports neither Spark nor Java.
"""
