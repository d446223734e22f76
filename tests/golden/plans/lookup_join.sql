-- Rows with what a table that does not change has for them as they come.
CREATE TEMPORARY TABLE clicks (a BIGINT, b STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka',
  'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json'
);
CREATE TEMPORARY VIEW regions (code, region, unread) AS
SELECT * FROM (VALUES ('a', 'Asia', 1), ('e', 'Europe', 2)) AS r (x, y, z) WHERE z > 0;
INSERT INTO events
SELECT c.a, r.region FROM clicks AS c
JOIN regions FOR SYSTEM_TIME AS OF c.p AS r ON c.b = r.code AND c.a > CHAR_LENGTH(r.region);
INSERT INTO per_region
SELECT r.region, COUNT(*), COUNT(r.code) FROM (SELECT * FROM clicks WHERE a > 1) AS c
LEFT JOIN regions FOR SYSTEM_TIME AS OF c.p AS r ON UPPER(c.b) = r.code
GROUP BY r.region;
