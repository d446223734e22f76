-- Subqueries without alias are inputs of their own, also where a subquery of WHERE reads them.
INSERT INTO users_copy (id)
SELECT u.id0 FROM (SELECT * FROM (SELECT id FROM users) JOIN (SELECT id FROM users) ON TRUE) AS u;

INSERT INTO users_copy (id)
SELECT id FROM (SELECT id FROM users)
WHERE EXISTS (SELECT * FROM (SELECT score FROM users), (SELECT n FROM per_region) WHERE score = id);
