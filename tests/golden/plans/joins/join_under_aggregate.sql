INSERT INTO per_region
SELECT u.region, COUNT(*), MAX(p.page_id)
FROM users AS u RIGHT JOIN pageviews AS p ON u.id = p.user_id WHERE u.region IS NOT NULL GROUP BY u.region;
