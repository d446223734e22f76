"""`streamtable demo`: the pageviews example of Flink's *Upsert Kafka* page, seen running.

A broker of its own, a producer of page views, `pageviews.sql` as a job like any other, and the
upsert topic read back from outside. `stage` starts what is needed, `live` and `bounded` are the
two ways to watch.
"""
