-- Subqueries filter the groups, as joins above the aggregation.
INSERT INTO per_region
SELECT region, COUNT(*), MAX(score) FROM users GROUP BY region
HAVING COUNT(*) > 1 AND region IN (SELECT region FROM places) AND NOT EXISTS (SELECT 1 FROM carts WHERE id = 7);

INSERT INTO per_region
SELECT region, COUNT(*), MAX(score) FROM users GROUP BY region HAVING MAX(score) >= ALL (SELECT place FROM places);
