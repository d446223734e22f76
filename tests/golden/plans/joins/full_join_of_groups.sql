-- A group of NULL on either side looks like a missing partner: the rows have no key to pair updates by.
INSERT INTO per_region
SELECT n, COUNT(*), MAX(m) FROM (
  SELECT CAST(p.n AS STRING) AS n, q.n AS m
  FROM (SELECT region, COUNT(*) AS n FROM users GROUP BY region) AS p
  FULL JOIN (SELECT user_region, COUNT(*) AS n FROM pageviews GROUP BY user_region) AS q
  ON p.region = q.user_region
) GROUP BY n;
