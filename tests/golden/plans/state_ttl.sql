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
