INSERT INTO users_copy SELECT id, score FROM users ORDER BY score DESC, 1 LIMIT 5 OFFSET 2;

-- Not of the result, but of what it is made from; and the same column with its table's name.
INSERT INTO users_copy SELECT u.id, u.score FROM users AS u ORDER BY u.region, u.score LIMIT 3;
INSERT INTO per_region
SELECT region, MAX(score) AS n, 0 FROM users AS u GROUP BY u.region ORDER BY COUNT(*) - n LIMIT 3;
