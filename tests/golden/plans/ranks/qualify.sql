-- The limit is that of QUALIFY, whose names are those of SELECT's items before those of FROM. The rank
-- is dropped, unless an item reads it.
INSERT INTO users_copy
SELECT id, score FROM users QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC, id) <= 3;

INSERT INTO users_copy
SELECT id, CAST(ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC, id) AS INT) AS place
FROM users QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC, id) <= 3 AND id > 7;

INSERT INTO users_copy
SELECT id + 1 AS id, score FROM users WHERE score > 1
QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY id) = 1 AND id IN (SELECT id FROM users_copy);

INSERT INTO users_copy
SELECT id, MAX(score) AS best FROM users GROUP BY id HAVING COUNT(*) > 2
QUALIFY ROW_NUMBER() OVER (ORDER BY best DESC) <= 10 AND MIN(score) > 0;

INSERT INTO users_copy
SELECT DISTINCT score, 1 FROM users WINDOW w AS (PARTITION BY region ORDER BY score)
QUALIFY ROW_NUMBER() OVER w = 1 OR score > (SELECT MAX(score) FROM users_copy);
