INSERT INTO per_region
SELECT u.region, COUNT(*), SUM(w.weight)
FROM users AS u JOIN (VALUES ('EU', 2), ('US', 3)) AS w (region, weight) ON u.region = w.region
GROUP BY u.region;
