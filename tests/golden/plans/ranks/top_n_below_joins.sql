-- The limit is a condition on one relation: in WHERE beside a join or a subquery, or in ON. An outer
-- join that pads the ranked rows keeps the condition above it.
CREATE VIEW ranked AS
SELECT id, region, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC) AS rn FROM users;

CREATE VIEW ascending AS
SELECT id, region, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score) AS rn FROM users;

INSERT INTO users_copy SELECT a.id, CAST(a.rn AS INT) FROM ranked AS a JOIN users_copy AS c ON a.id = c.id WHERE rn <= 3;

INSERT INTO users_copy SELECT id, CAST(rn AS INT) FROM ranked WHERE rn <= 3 AND id IN (SELECT id FROM users_copy);

INSERT INTO users_copy
SELECT c.id, CAST(a.rn AS INT) FROM users_copy AS c LEFT JOIN ranked AS a ON a.id = c.id AND a.rn = 1;

INSERT INTO users_copy
SELECT c.id, CAST(a.rn AS INT) FROM users_copy AS c LEFT JOIN ascending AS a ON a.id = c.id WHERE a.rn < 4;
