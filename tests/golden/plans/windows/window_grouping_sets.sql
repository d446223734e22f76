CREATE TABLE per_window (s TIMESTAMP(3), e TIMESTAMP(3), region STRING, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'per_window',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

-- Every grouping has the window, which waits and fires once.
INSERT INTO per_window
SELECT window_start, window_end, user_region, COUNT(*)
FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY GROUPING SETS ((window_start, window_end, user_region), (window_start, window_end));

INSERT INTO per_window
SELECT window_start, window_end, user_region, SUM(user_id)
FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, ROLLUP (user_region, page_id);
