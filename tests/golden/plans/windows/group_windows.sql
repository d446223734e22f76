CREATE TABLE counts (s TIMESTAMP(3), e TIMESTAMP(3), a STRING, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'counts',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TEMPORARY TABLE clicks (a STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

-- Flink's older way to write windows; columns may be written in more than one way.
INSERT INTO counts
SELECT TUMBLE_START(viewtime, INTERVAL '1' MINUTE),
  TUMBLE_END(v.viewtime, INTERVAL '1' MINUTE), user_region, COUNT(*)
FROM pageviews AS v
GROUP BY TUMBLE(v.viewtime, INTERVAL '1' MINUTE), user_region
HAVING TUMBLE_END(viewtime, INTERVAL '1' MINUTE) > TIMESTAMP '2026-01-01 00:00:00';

-- The window's time is an event time again.
INSERT INTO counts
SELECT HOP_START(ended, INTERVAL '5' MINUTE, INTERVAL '1' HOUR),
  HOP_END(ended, INTERVAL '5' MINUTE, INTERVAL '1' HOUR), 'all', SUM(n)
FROM (
  SELECT TUMBLE_ROWTIME(viewtime, INTERVAL '1' MINUTE) AS ended, COUNT(*) AS n
  FROM pageviews GROUP BY TUMBLE(viewtime, INTERVAL '1' MINUTE), user_region
)
GROUP BY HOP(ended, INTERVAL '5' MINUTE, INTERVAL '1' HOUR);

INSERT INTO counts
SELECT SESSION_START(viewtime, INTERVAL '10' MINUTE), SESSION_END(viewtime, INTERVAL '10' MINUTE),
  user_region, COUNT(DISTINCT user_id)
FROM pageviews GROUP BY SESSION(viewtime, INTERVAL '10' MINUTE), user_region;

-- By the clock.
INSERT INTO counts
SELECT TUMBLE_START(p, INTERVAL '1' MINUTE), CAST(TUMBLE_PROCTIME(p, INTERVAL '1' MINUTE) AS
  TIMESTAMP(3)), a, COUNT(*)
FROM clicks GROUP BY TUMBLE(p, INTERVAL '1' MINUTE), a;
