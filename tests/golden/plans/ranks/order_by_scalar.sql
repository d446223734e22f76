-- A sort key may be a scalar subquery.
INSERT INTO users_copy
SELECT id, score FROM users AS u
ORDER BY (SELECT COUNT(*) FROM carts AS c WHERE c.region = u.region) DESC LIMIT 3;
