CREATE TABLE clicks (a INT, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE counts (s TIMESTAMP(3), e TIMESTAMP(3), a INT, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'counts',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

INSERT INTO counts
SELECT window_start, window_end, a, COUNT(*)
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(p), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, a;

-- Windows over windows: the last moment of a window of the clock is a time of the clock.
INSERT INTO counts
SELECT window_start, window_end, 0, SUM(n) FROM TABLE(TUMBLE((
  SELECT window_time AS ended, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(p), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, window_time
), DESCRIPTOR(ended), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
