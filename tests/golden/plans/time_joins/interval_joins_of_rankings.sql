CREATE TEMPORARY TABLE clicks (k BIGINT, price INT, p AS PROCTIME(), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
-- rows that are numbered by event time
INSERT INTO users_copy SELECT a.k, CAST(a.rn AS INT)
FROM (SELECT k, ts, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM clicks) AS a
LEFT JOIN clicks AS b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts;
-- rows that are numbered in windows: not append-only
INSERT INTO users_copy SELECT a.k, CAST(a.rn AS INT)
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) AS a
JOIN clicks AS b ON a.k = b.k AND a.window_time BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts;
-- beside a comparison of processing times, and with an equality of event times
INSERT INTO users_copy SELECT a.k, 1 FROM clicks AS a
JOIN clicks AS b ON a.k = b.k AND a.p >= b.p AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts;
INSERT INTO users_copy SELECT a.k, 1 FROM clicks AS a
JOIN clicks AS b ON a.k = b.k AND a.ts = b.ts AND a.ts >= b.ts - INTERVAL '1' HOUR;
-- a ranking of joined windows: positions of the join order the rows of one batch only
INSERT INTO users_copy SELECT k, CAST(n AS INT) FROM (
  SELECT a.k, a.n, ROW_NUMBER() OVER (PARTITION BY a.k ORDER BY a.n DESC) AS rn FROM (
    SELECT k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY k, window_start, window_end) AS a JOIN clicks AS b ON a.k = b.k)
WHERE rn <= 2;
