INSERT INTO events SELECT user_id, user_region FROM pageviews ORDER BY viewtime;

INSERT INTO events
SELECT user_id, user_region FROM pageviews WHERE user_id > 0
ORDER BY viewtime, page_id DESC, user_region;

-- An event time that a window gives.
INSERT INTO events (id)
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time ORDER BY window_time;

-- The order of a part of a query is left out, as Flink does.
INSERT INTO events SELECT * FROM (SELECT user_id, user_region FROM pageviews ORDER BY page_id);
INSERT INTO events
WITH v AS (SELECT user_id, user_region FROM pageviews ORDER BY viewtime) SELECT * FROM v;

-- Rows come in the order of processing time.
INSERT INTO events SELECT user_id, user_region FROM (SELECT *, PROCTIME() AS p FROM pageviews) ORDER BY p;
