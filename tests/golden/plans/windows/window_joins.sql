CREATE TABLE pairs (s TIMESTAMP(3), e TIMESTAMP(3), region STRING, n BIGINT, m BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'pairs',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

CREATE TEMPORARY VIEW per_minute AS
SELECT window_start, window_end, window_time, user_region, COUNT(*) AS n, COUNT(DISTINCT user_id) AS m
FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time, user_region;

CREATE TEMPORARY VIEW viewed AS
SELECT * FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE));

-- Even a full join only inserts, once a window is over.
INSERT INTO pairs
SELECT COALESCE(a.window_start, b.window_start), b.window_end, a.user_region, a.n, b.m
FROM per_minute AS a FULL JOIN per_minute AS b
ON a.window_start = b.window_start AND a.window_end = b.window_end
  AND a.user_region = b.user_region AND a.n < b.m;

-- Its windows are those of its inputs, to be grouped by again.
INSERT INTO pairs
SELECT a.window_start, a.window_end, a.user_region, COUNT(*), SUM(b.n)
FROM viewed AS a JOIN per_minute AS b
ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.user_region = b.user_region
GROUP BY a.window_start, a.window_end, a.user_region;

INSERT INTO pairs
SELECT window_start, window_end, user_region, user_id, 0 FROM viewed AS v
WHERE NOT EXISTS (
  SELECT 1 FROM per_minute AS p
  WHERE p.window_start = v.window_start AND p.window_end = v.window_end AND p.n > v.user_id
);

-- Without the ends, it is a join that keeps its rows.
INSERT INTO pairs
SELECT a.window_start, a.window_end, a.user_region, a.n, b.m
FROM per_minute AS a JOIN per_minute AS b ON a.window_start = b.window_start;
