INSERT INTO per_region (region, m, n)
SELECT UPPER(u.region) AS r, SUM(u.score) FILTER (WHERE u.score > 0), COUNT(u.score)
FROM users AS u GROUP BY 1;
