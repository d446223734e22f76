"""Topics seen from outside, without Spark: what a table over Kafka holds at this moment.

A reader of its own, with another client and other codecs than the ones that wrote, so that what it
shows is also a check of the bytes. Serves the demo and the testing kit.
"""
