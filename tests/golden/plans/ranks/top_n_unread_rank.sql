-- The subquery keeps the rank for a query that does not read it.
CREATE VIEW ranked AS
SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC NULLS LAST, id) AS rn FROM users;

INSERT INTO users_copy SELECT id, score FROM (SELECT id, score, rn FROM ranked WHERE rn <= 3);
