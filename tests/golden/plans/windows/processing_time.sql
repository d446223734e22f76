-- First and last rows to come, and what comes out with each row as it comes.
CREATE TEMPORARY TABLE clicks (a BIGINT, b STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka',
  'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json'
);
INSERT INTO events
SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY p) AS n FROM clicks)
WHERE n = 1;
INSERT INTO per_region
SELECT b, a, n FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY PROCTIME() DESC) AS n FROM clicks
) WHERE n = 1;
INSERT INTO events
SELECT COUNT(*) OVER w + LAST_VALUE(a) OVER w, b FROM clicks
WINDOW w AS (PARTITION BY b ORDER BY p ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
INSERT INTO events
SELECT COUNT(DISTINCT a) OVER (ORDER BY p RANGE INTERVAL '1' MINUTE PRECEDING), b FROM clicks;
SET 'table.exec.state.ttl' = '1 d';
INSERT INTO events
SELECT n, b FROM (SELECT b, ROW_NUMBER() OVER (PARTITION BY b ORDER BY p) AS n FROM clicks);
INSERT INTO per_region
SELECT b, COUNT(*), 1 FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY p DESC) AS n FROM clicks
) WHERE n = 1 GROUP BY b;
