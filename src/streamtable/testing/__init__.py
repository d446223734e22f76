"""The testing kit: random histories, topics filled with them, tables read back.

For our own suite and for users who test their pipelines; nothing else of the package imports it.
"""
