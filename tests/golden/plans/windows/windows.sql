CREATE TABLE per_window (s TIMESTAMP(3), e TIMESTAMP(3), region STRING, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'per_window',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

-- A window's results are inserts; the watermark's column is read beside what the query asks for.
INSERT INTO per_window
SELECT window_start, window_end, user_region, COUNT(*)
FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, user_region;

-- Windows over windows, by the time at which the first ones ended.
INSERT INTO per_window
SELECT window_start, window_end, 'all', SUM(n)
FROM TABLE(HOP((
  SELECT window_time AS ended, user_region, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, window_time, user_region
), DESCRIPTOR(ended), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;

INSERT INTO per_window
SELECT window_start, window_end, user_region, COUNT(DISTINCT user_id)
FROM TABLE(SESSION(TABLE pageviews PARTITION BY user_region, DESCRIPTOR(viewtime),
  INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, user_region;

-- The first rows of each window.
INSERT INTO per_window
SELECT window_start, window_end, user_region, n
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place
  FROM (
    SELECT window_start, window_end, user_region, COUNT(*) AS n
    FROM TABLE(CUMULATE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE,
      INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, user_region
  )
)
WHERE place <= 3;

-- Sessions that nothing merges wait for their rows, and are then windows like any others.
INSERT INTO per_window
SELECT window_start, window_end, user_region, user_id
FROM TABLE(SESSION(TABLE pageviews PARTITION BY user_region, DESCRIPTOR(viewtime),
  INTERVAL '10' MINUTE));

INSERT INTO per_window
SELECT window_start, window_end, user_region, COUNT(*)
FROM TABLE(SESSION(TABLE pageviews PARTITION BY user_id, DESCRIPTOR(viewtime),
  INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, user_region;

-- What goes by the order of rows is told their places in the topic.
INSERT INTO per_window
SELECT window_start, window_end, LAST_VALUE(user_region), COUNT(*)
FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- Nothing here waits for a watermark.
INSERT INTO per_region
SELECT user_region, COUNT(*), MAX(user_id) FROM pageviews GROUP BY user_region;
