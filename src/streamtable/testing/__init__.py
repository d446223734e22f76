"""The test kit: random histories, topics with these histories, tables read back.

It is for our own tests and for users who test their pipelines. No other package imports it.
"""
