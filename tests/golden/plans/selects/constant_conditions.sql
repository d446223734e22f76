-- TRUE and 1 = 1 filter nothing, and are not between a ROW_NUMBER and its limit.
CREATE VIEW ranked AS
SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC NULLS LAST, id) AS rn FROM users WHERE 1 = 1;

INSERT INTO users_copy SELECT id, score FROM (SELECT * FROM ranked WHERE TRUE) WHERE rn <= 3 AND 'a' = 'a';

INSERT INTO users_copy SELECT id, MAX(score) FROM users WHERE TRUE GROUP BY id HAVING (TRUE);
