-- ORDER BY and LIMIT do not change EXISTS. Other clauses need equalities.
INSERT INTO users_copy SELECT c.id, 1 FROM carts AS c
WHERE EXISTS (SELECT 1 FROM users AS u WHERE u.id > c.id ORDER BY u.score LIMIT 1);

INSERT INTO users_copy SELECT c.id, 1 FROM carts AS c
WHERE NOT EXISTS (SELECT score FROM users AS u WHERE u.region = c.region GROUP BY score HAVING COUNT(*) > 1);

INSERT INTO users_copy SELECT c.id, 1 FROM carts AS c
WHERE c.id IN (SELECT MAX(id) FROM users AS u WHERE u.region = c.region);

INSERT INTO users_copy SELECT c.id, 1 FROM carts AS c
WHERE c.id NOT IN (SELECT id FROM users AS u WHERE u.region = c.region ORDER BY score LIMIT 3);
