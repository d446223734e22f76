CREATE TEMPORARY TABLE clicks (k BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TEMPORARY VIEW per_minute AS
SELECT k, window_time, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end, window_time;
-- times of window results
INSERT INTO users_copy SELECT a.k, CAST(b.n AS INT) FROM per_minute AS a
JOIN per_minute AS b ON a.k = b.k AND a.window_time BETWEEN b.window_time - INTERVAL '5' MINUTE AND b.window_time;
-- equal times
INSERT INTO users_copy SELECT a.k, 1 FROM clicks AS a LEFT JOIN clicks AS b ON a.k = b.k AND a.ts = b.ts;
-- microseconds
INSERT INTO users_copy SELECT a.user_id, 1 FROM pageviews AS a
JOIN pageviews AS b ON a.user_id = b.user_id AND a.viewtime > b.viewtime - INTERVAL '1' MINUTE AND a.viewtime <= b.viewtime;
-- equal windows: a window join
INSERT INTO users_copy SELECT a.k, 1
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS a
JOIN TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS b
ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end AND a.window_time = b.window_time;
