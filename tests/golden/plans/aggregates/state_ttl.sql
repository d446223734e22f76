-- A setting for every operator, a hint for the inputs of one join and for one grouping; 0 keeps.
SET 'table.exec.state.ttl' = '2 d';
INSERT INTO per_region
SELECT region, COUNT(*), MAX(score)
FROM (
  SELECT /*+ STATE_TTL('u' = '1 d', 'c' = '0') */ u.region AS region, u.score AS score
  FROM users AS u LEFT JOIN users_copy AS c ON u.score = c.score
)
GROUP BY region;
INSERT INTO per_region
SELECT /*+ STATE_TTL('p' = '12 h') */ user_region, COUNT(DISTINCT user_id), 1
FROM pageviews AS p GROUP BY user_region;
INSERT INTO users_copy
SELECT id, score FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score) AS n FROM users
) WHERE n <= 2;
-- Beside a watermark: by the clock where nothing else would end it.
CREATE TEMPORARY TABLE totals (id BIGINT, n BIGINT, total BIGINT) WITH (
  'connector' = 'kafka',
  'topic' = 'totals',
  'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json'
);
CREATE TEMPORARY TABLE prices (k BIGINT, price BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at,
  PRIMARY KEY (k) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'prices',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json',
  'value.format' = 'json'
);
INSERT INTO totals
SELECT page_id, COUNT(*) OVER (PARTITION BY user_id ORDER BY viewtime), SUM(page_id) OVER (
  PARTITION BY user_id ORDER BY viewtime
) FROM pageviews;
INSERT INTO totals
SELECT page_id, COUNT(*) OVER (
  PARTITION BY user_id ORDER BY viewtime RANGE INTERVAL '5' SECOND PRECEDING
), 1 FROM pageviews;
INSERT INTO totals
SELECT page_id, 1, 1 FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY page_id ORDER BY viewtime) AS n FROM pageviews
) WHERE n = 1;
INSERT INTO totals
SELECT p.page_id, 1, u.price FROM pageviews AS p
JOIN prices FOR SYSTEM_TIME AS OF p.viewtime AS u ON p.user_id = u.k;
