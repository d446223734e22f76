INSERT INTO per_region
SELECT region, COUNT(*), CAST(NULL AS BIGINT) FROM users GROUP BY region HAVING SUM(score) > 100;
