"""`streamtable demo`: a live run of the pageviews example of Flink's *Upsert Kafka* page.

The demo has its own broker, a producer of page views, `pageviews.sql` as a normal job, and a
consumer that reads the upsert topic. `stage` starts the components. `live` and `bounded` are the
two variants of the demo.
"""
