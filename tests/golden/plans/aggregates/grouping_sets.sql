INSERT INTO places
SELECT COALESCE(region, 'all'), n, MAX(s) FROM (
  SELECT region, score, COUNT(*) AS n, CAST(GROUPING_ID(region, score) AS INT) AS s, SUM(score)
  FROM users GROUP BY GROUPING SETS ((region, score), (region), ()) HAVING GROUPING(score) = 1
) GROUP BY COALESCE(region, 'all'), n;
